#include "runtime/allocator.h"

#include "pjrt/accounting.h"
#include "runtime/device.h"
#include "runtime/device_buffer.h"
#include "runtime/memory.h"
#include "runtime/work.h"

namespace torchtpu::runtime {
namespace {

// After what was called before: figures that lag behind the program would be of no use.
pjrt::Accounting& accounting_of(c10::DeviceIndex device) {
  drain();
  return pjrt::accounting(static_cast<size_t>(resolve_device(device)));
}

class Allocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t nbytes) override {
    return make_data_ptr({{static_cast<int64_t>(nbytes)}, c10::ScalarType::Byte}, nbytes, current_device());
  }
  // The pointer that PyTorch sees is no owner, so raw_alloc cannot work here, as on every device with opaque memory.
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void*, const void*, size_t) const override {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "torchtpu: device memory has no host address; copy tensors, not pointers");
  }

  // There is nothing to set up: before the runtime starts, the figures are zeros.
  bool initialized() override { return true; }
  // Memory that no tensor holds belongs to PJRT again already.
  void emptyCache(c10::MempoolId_t) override {}
  // Programs hold their buffers until they have run, on whichever stream.
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override {
    drain();
    return memory_stats(resolve_device(device));
  }
  void resetAccumulatedStats(c10::DeviceIndex device) override { accounting_of(device).reset_totals(); }
  void resetPeakStats(c10::DeviceIndex device) override { accounting_of(device).reset_peaks(); }
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override {
    return memory_info(resolve_device(device));
  }
};

Allocator the_allocator;

struct Registration {
  Registration() { c10::SetAllocator(c10::DeviceType::PrivateUse1, &the_allocator); }
} registration;

}  // namespace

c10::DeviceAllocator* allocator() { return &the_allocator; }

}  // namespace torchtpu::runtime
