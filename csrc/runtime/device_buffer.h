// What the DataPtr of a tpu storage points to: a mutable handle to an immutable PJRT buffer.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/core/Storage.h>
#include <c10/util/SmallVector.h>

#include "pjrt/buffer.h"
#include "runtime/errors.h"
#include "runtime/live_buffers.h"
#include "runtime/pending.h"
#include "runtime/spin_lock.h"

namespace torchtpu::runtime {

using Sizes = c10::SmallVector<int64_t, 5>;

// The row-major array that the PJRT buffer holds: the shape and dtype of the tensor that created the storage. Every view is
// strides over it.
struct Base {
  Sizes sizes;
  c10::ScalarType dtype;

  int64_t numel() const {
    int64_t n = 1;
    for (int64_t size : sizes) n *= size;
    return n;
  }
};

// What a storage holds at one moment: a buffer, or the promise of one.
struct Value {
  pjrt::BufferRef buffer;
  PendingRef pending;
};

// Empty, ready, pending or failed. Mutation stores another buffer, so that every alias of the storage sees it. Thread-safe: a reader gets its own reference.
class DeviceBuffer {
 public:
  DeviceBuffer(Base base, size_t nbytes, c10::DeviceIndex device);
  DeviceBuffer(const DeviceBuffer&) = delete;
  ~DeviceBuffer();

  // The handle behind a tpu storage. One that somebody made of a data_ptr() (pickle, DLPack) leads to the handle of
  // that address; throws when there is none.
  static DeviceBuffer& of(const c10::Storage& storage) {
    const auto& data = storage.data_ptr();
    if (C10_LIKELY(owns(data))) return *static_cast<DeviceBuffer*>(data.get_context());
    return at_address(data.get());
  }
  // Whether the context of this DataPtr is a handle.
  static bool owns(const c10::DataPtr& data) { return data.get_deleter() == &destroy; }
  // The deleter of the DataPtr that owns a handle.
  static void destroy(void* handle) { delete static_cast<DeviceBuffer*>(handle); }

  const Base& base() const { return base_; }
  c10::DeviceIndex device() const { return device_; }
  void* address() const { return address_; }
  size_t nbytes() const { return nbytes_; }

  // What is there, if anything is.
  Value peek();
  // The buffer; one of zeros when nothing was written yet. Waits for a pending one; throws why there is none, or once, if nobody
  // has heard of it, why the last update did not take place.
  pjrt::BufferRef load();
  // What load() would give, without waiting for it.
  Value capture();
  // Takes the buffer out, so that the caller holds the only reference and may donate it; store() must follow.
  pjrt::BufferRef take();
  void store(pjrt::BufferRef buffer);
  void store(PendingRef pending);
  void store(Value value) { value.pending ? store(std::move(value.pending)) : store(std::move(value.buffer)); }
  // Every later use throws `failure`, until a whole new value is stored.
  void fail(FailureRef failure);
  // Why there is no value, or why the last update did not take place, if nobody has heard of it.
  FailureRef untold();
  // True until the first store(): no memory is held.
  bool is_empty();
  // Forgets the value and takes another shape; for storages that are about to be written as a whole.
  void reset(Base base, size_t nbytes);

 private:
  static DeviceBuffer& at_address(const void* address);
  pjrt::BufferRef load_locked();
  // Ready or failed when what was pending has come. Returns what is still pending.
  PendingRef settle_locked();

  Base base_;
  size_t nbytes_;
  void* address_;
  c10::DeviceIndex device_;
  mutable SpinLock lock_;  // held for one upload of zeros at most
  pjrt::BufferRef buffer_;
  PendingRef pending_;
  FailureRef failure_;  // with a buffer: of the last update
  LiveBufferNode node_{this};  // last: a buffer is only visible to others while all of it exists
};

// A DataPtr that owns a new, empty handle.
c10::DataPtr make_data_ptr(Base base, size_t nbytes, c10::DeviceIndex device);

}  // namespace torchtpu::runtime
