#include "runtime/host_allocator.h"

#include <c10/core/CPUAllocator.h>

namespace torchtpu::runtime {
namespace {

struct HostAllocator final : at::HostAllocator {
  c10::DataPtr allocate(size_t nbytes) override { return c10::GetDefaultCPUAllocator()->allocate(nbytes); }
  c10::DeleterFnPtr raw_deleter() const override { return c10::GetDefaultCPUAllocator()->raw_deleter(); }
  void copy_data(void* target, const void* source, size_t nbytes) const override {
    default_copy_data(target, source, nbytes);
  }
  bool record_event(void*, void*, c10::Stream) override { return false; }  // none of it waits for a device
  void empty_cache() override {}                                          // nothing is kept
  at::HostStats get_stats() override { return {}; }                       // nothing is pinned
  void reset_accumulated_stats() override {}
  void reset_peak_stats() override {}
};

HostAllocator instance;

}  // namespace

at::HostAllocator* host_allocator() { return &instance; }

REGISTER_HOST_ALLOCATOR(c10::DeviceType::PrivateUse1, &instance)

}  // namespace torchtpu::runtime
