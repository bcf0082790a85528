// A device buffer: immutable, reference counted, destroyed with its last reference.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "pjrt/accounting.h"
#include "pjrt/event.h"
#include "pjrt_c_api.h"

namespace torchtpu::pjrt {

// Every method may be called from any thread, and waits without holding a lock.
class Buffer {
 public:
  // A program that reads and writes fewer bytes is done in microseconds: to ask whether it is would take longer.
  static constexpr size_t kTrackedBytes = 2048;

  // Takes ownership of `raw`, which holds `bytes` on `device` as far as the accounting goes.
  Buffer(PJRT_Buffer* raw, size_t bytes, size_t device, Holder holder = Holder::Tensor)
      : raw_(raw),
        bytes_(static_cast<int64_t>(bytes)),
        device_(static_cast<uint16_t>(device)),
        holder_(holder),
        tracked_(holder == Holder::Tensor && bytes >= kTrackedBytes) {
    accounting(device_).add(bytes_, holder_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  PJRT_Buffer* raw() const { return raw_; }
  size_t bytes() const { return static_cast<size_t>(bytes_); }
  // Names the computation that makes it, for the error when that fails. `name` must live for ever.
  void made_by(const char* name) { made_by_ = name; }
  // Blocks until the buffer holds its value; throws Error when the computation that makes it failed.
  void await() const;
  bool is_ready() const;
  // Happens when the buffer holds its value; needs the buffer no longer.
  Event ready_event() const;
  // Blocks, then copies the whole buffer in row-major order into `destination` (`size` bytes, at least its size).
  void to_host(void* destination, size_t size) const;
  // The address of the data in device memory: readable by the host on the CPU platform only, after await().
  const void* device_pointer() const;
  // Bytes on the device.
  size_t size_in_bytes() const;
  // The device counts as busy until the buffer has its value, even if it is dropped before. Small ones do so when told.
  void track() { tracked_ = true; }
  // The memory now belongs to the output of a program that this buffer was donated to.
  void give_away() {
    accounting(device_).remove(bytes_, holder_);
    given_away_ = true;
  }
  // True once a program has been given the buffer for its own (donation).
  bool is_deleted() const;

 private:
  friend class BufferRef;
  PJRT_Buffer* raw_;
  const char* made_by_ = nullptr;
  int64_t bytes_;
  uint16_t device_;
  Holder holder_;
  bool tracked_;
  bool given_away_ = false;
  std::atomic<uint32_t> references_{0};
};

// An intrusive pointer: one atomic increment per copy, no control block.
class BufferRef {
 public:
  BufferRef() = default;
  explicit BufferRef(Buffer* buffer) : buffer_(buffer) { acquire(); }
  BufferRef(const BufferRef& other) : buffer_(other.buffer_) { acquire(); }
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef() { release(); }

  Buffer* operator->() const { return buffer_; }
  Buffer* get() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }
  // True when this is the only reference: the buffer may be donated.
  bool unique() const { return buffer_ && buffer_->references_.load(std::memory_order_acquire) == 1; }

 private:
  void acquire() {
    if (buffer_) buffer_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    if (buffer_ && buffer_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete buffer_;
  }
  Buffer* buffer_ = nullptr;
};

}  // namespace torchtpu::pjrt
