// Host memory for PyTorch's pin_memory(): ordinary memory, which no query calls pinned.
#pragma once

#include <ATen/core/CachingHostAllocator.h>

namespace torchtpu::runtime {

// Copies to the device are made within the call, out of any host memory, so that there is nothing to lock or to keep
// alive. What asks for pinned memory (DataLoader(pin_memory=True)) works, and Tensor.is_pinned() says False.
at::HostAllocator* host_allocator();

}  // namespace torchtpu::runtime
