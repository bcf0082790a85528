#include "runtime/device_buffer.h"

#include <c10/util/Exception.h>

#include <cstring>
#include <memory>
#include <mutex>

#include "pjrt/client.h"
#include "runtime/address_space.h"
#include "runtime/dtype.h"

namespace torchtpu::runtime {

DeviceBuffer::DeviceBuffer(Base base, size_t nbytes, c10::DeviceIndex device)
    : base_(std::move(base)), nbytes_(nbytes), address_(reserve_address(nbytes)), device_(device) {}

DeviceBuffer::~DeviceBuffer() { release_address(address_, nbytes_); }

DeviceBuffer& DeviceBuffer::at_address(const void* address) {
  DeviceBuffer* found = address ? find_live_buffer(address) : nullptr;
  TORCH_CHECK(found, "torchtpu: a tpu tensor was made of the address ", address, ", which no tpu storage has");
  return *found;
}

PendingRef DeviceBuffer::settle_locked() {
  if (C10_LIKELY(!pending_)) return {};
  if (!pending_->done()) return pending_;
  failure_ = pending_->failure();
  buffer_ = pending_.use_count() == 1 ? pending_->take() : pending_->buffer();
  pending_.reset();
  return {};
}

pjrt::BufferRef DeviceBuffer::load_locked() {
  if (C10_UNLIKELY(failure_ != nullptr)) {
    if (!buffer_) failure_->raise();
    if (auto update = std::move(failure_); !update->reported()) update->raise();
  }
  if (C10_LIKELY(static_cast<bool>(buffer_))) return buffer_;
  // calloc: large zero pages are not touched before the upload reads them.
  std::unique_ptr<void, decltype(&std::free)> zeros(std::calloc(nbytes_ + 1, 1), &std::free);
  TORCH_CHECK_WITH(OutOfMemoryError, zeros, "torchtpu: the host has no ", nbytes_, " bytes for an uninitialized tensor");
  buffer_ = upload(zeros.get(), base_, device_);
  return buffer_;
}

pjrt::BufferRef DeviceBuffer::load() {
  for (;;) {
    PendingRef pending;
    {
      std::lock_guard lock(lock_);
      pending = settle_locked();
      if (C10_LIKELY(!pending)) return load_locked();
    }
    pending->wait();
  }
}

Value DeviceBuffer::capture() {
  std::lock_guard lock(lock_);
  if (auto pending = settle_locked()) return {{}, std::move(pending)};
  return {load_locked(), {}};
}

Value DeviceBuffer::peek() {
  std::lock_guard lock(lock_);
  auto pending = settle_locked();
  return {buffer_, std::move(pending)};
}

pjrt::BufferRef DeviceBuffer::take() {
  for (;;) {
    PendingRef pending;
    {
      std::lock_guard lock(lock_);
      pending = settle_locked();
      if (C10_LIKELY(!pending)) {
        load_locked();
        return std::move(buffer_);
      }
    }
    pending->wait();
  }
}

void DeviceBuffer::store(pjrt::BufferRef buffer) {
  PendingRef pending;
  std::lock_guard lock(lock_);
  // What was there is destroyed after the lock is released.
  std::swap(buffer_, buffer);
  pending_.swap(pending);
  if (C10_UNLIKELY(failure_ != nullptr)) failure_.reset();
}

void DeviceBuffer::store(PendingRef pending) {
  pjrt::BufferRef buffer;
  std::lock_guard lock(lock_);
  std::swap(buffer_, buffer);
  pending_.swap(pending);
  failure_.reset();
}

void DeviceBuffer::fail(FailureRef failure) {
  std::lock_guard lock(lock_);
  buffer_ = {};
  pending_.reset();
  failure_ = std::move(failure);
}

FailureRef DeviceBuffer::untold() {
  std::lock_guard lock(lock_);
  settle_locked();
  return failure_ && !failure_->reported() ? failure_ : nullptr;
}

bool DeviceBuffer::is_empty() {
  std::lock_guard lock(lock_);
  return !buffer_ && !pending_ && !failure_;
}

void DeviceBuffer::reset(Base base, size_t nbytes) {
  void* address = nbytes == nbytes_ ? address_ : reserve_address(nbytes);
  std::lock_guard lock(lock_);
  if (nbytes != nbytes_) release_address(std::exchange(address_, address), std::exchange(nbytes_, nbytes));
  base_ = std::move(base);
  buffer_ = {};
  pending_.reset();
  failure_.reset();
}

c10::DataPtr make_data_ptr(Base base, size_t nbytes, c10::DeviceIndex device) {
  auto* handle = new DeviceBuffer(std::move(base), nbytes, device);
  return {handle->address(), handle, &DeviceBuffer::destroy,
          c10::Device(c10::DeviceType::PrivateUse1, device)};
}

}  // namespace torchtpu::runtime
