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

pjrt::BufferRef DeviceBuffer::load_locked() {
  TORCH_CHECK(failure_.empty(), failure_);
  if (!buffer_) {
    // calloc: large zero pages are not touched before the upload reads them.
    std::unique_ptr<void, decltype(&std::free)> zeros(std::calloc(nbytes_ + 1, 1), &std::free);
    TORCH_CHECK_WITH(OutOfMemoryError, zeros, "torchtpu: the host has no ", nbytes_, " bytes for an uninitialized tensor");
    buffer_ = upload(zeros.get(), base_, device_);
  }
  return buffer_;
}

pjrt::BufferRef DeviceBuffer::load() {
  std::lock_guard lock(lock_);
  return load_locked();
}

pjrt::BufferRef DeviceBuffer::peek() const {
  std::lock_guard lock(lock_);
  return buffer_;
}

pjrt::BufferRef DeviceBuffer::take() {
  std::lock_guard lock(lock_);
  load_locked();
  return std::move(buffer_);
}

void DeviceBuffer::store(pjrt::BufferRef buffer) {
  std::lock_guard lock(lock_);
  std::swap(buffer_, buffer);  // the old buffer is destroyed after the lock is released
  if (!failure_.empty()) failure_.clear();
}

void DeviceBuffer::fail(std::string reason) {
  std::lock_guard lock(lock_);
  buffer_ = {};
  failure_ = std::move(reason);
}

bool DeviceBuffer::is_empty() const {
  std::lock_guard lock(lock_);
  return !buffer_ && failure_.empty();
}

void DeviceBuffer::reset(Base base, size_t nbytes) {
  void* address = nbytes == nbytes_ ? address_ : reserve_address(nbytes);
  std::lock_guard lock(lock_);
  if (nbytes != nbytes_) release_address(std::exchange(address_, address), std::exchange(nbytes_, nbytes));
  base_ = std::move(base);
  buffer_ = {};
  failure_.clear();
}

c10::DataPtr make_data_ptr(Base base, size_t nbytes, c10::DeviceIndex device) {
  auto* handle = new DeviceBuffer(std::move(base), nbytes, device);
  return {handle->address(), handle, &DeviceBuffer::destroy,
          c10::Device(c10::DeviceType::PrivateUse1, device)};
}

}  // namespace torchtpu::runtime
