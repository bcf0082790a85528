#include "runtime/device_buffer.h"

#include <c10/util/Exception.h>

#include <cstring>
#include <memory>
#include <thread>

#include "pjrt/client.h"
#include "runtime/address_space.h"
#include "runtime/dtype.h"

namespace torchtpu::runtime {

// Held for a few instructions (or one upload of zeros), hence a spin lock: half the size and cost of a mutex.
class DeviceBuffer::Lock {
 public:
  explicit Lock(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  ~Lock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag& flag_;
};

DeviceBuffer::DeviceBuffer(Base base, size_t nbytes, c10::DeviceIndex device)
    : base_(std::move(base)), nbytes_(nbytes), address_(reserve_address(nbytes)), device_(device) {}

DeviceBuffer::~DeviceBuffer() { release_address(address_, nbytes_); }

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
  Lock lock(lock_);
  return load_locked();
}

pjrt::BufferRef DeviceBuffer::peek() const {
  Lock lock(lock_);
  return buffer_;
}

pjrt::BufferRef DeviceBuffer::take() {
  Lock lock(lock_);
  load_locked();
  return std::move(buffer_);
}

void DeviceBuffer::store(pjrt::BufferRef buffer) {
  Lock lock(lock_);
  std::swap(buffer_, buffer);  // the old buffer is destroyed after the lock is released
  if (!failure_.empty()) failure_.clear();
}

void DeviceBuffer::fail(std::string reason) {
  Lock lock(lock_);
  buffer_ = {};
  failure_ = std::move(reason);
}

bool DeviceBuffer::is_empty() const {
  Lock lock(lock_);
  return !buffer_ && failure_.empty();
}

void DeviceBuffer::reset(Base base, size_t nbytes) {
  void* address = nbytes == nbytes_ ? address_ : reserve_address(nbytes);
  Lock lock(lock_);
  if (nbytes != nbytes_) release_address(std::exchange(address_, address), std::exchange(nbytes_, nbytes));
  base_ = std::move(base);
  buffer_ = {};
  failure_.clear();
}

c10::DataPtr make_data_ptr(Base base, size_t nbytes, c10::DeviceIndex device) {
  auto* handle = new DeviceBuffer(std::move(base), nbytes, device);
  return {handle->address(), handle, [](void* context) { delete static_cast<DeviceBuffer*>(context); },
          c10::Device(c10::DeviceType::PrivateUse1, device)};
}

}  // namespace torchtpu::runtime
