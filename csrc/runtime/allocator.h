// PyTorch's door to the device's memory.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

namespace torchtpu::runtime {

// Makes storages (torch.UntypedStorage(n, device="tpu"): the base is `n` bytes), and tells torch.accelerator the
// figures.
c10::DeviceAllocator* allocator();

}  // namespace torchtpu::runtime
