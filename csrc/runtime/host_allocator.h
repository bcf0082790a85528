// Host memory for PyTorch's pin_memory(): ordinary memory, which no query calls pinned.
#pragma once

#include <ATen/core/CachingHostAllocator.h>

namespace torchtpu::runtime {

// PJRT copies from any host memory alike: from a page that is locked no faster, and within the call, so that there is nothing to
// keep alive. What asks for pinned memory (DataLoader(pin_memory=True)) works, and Tensor.is_pinned() says False.
at::HostAllocator* host_allocator();

}  // namespace torchtpu::runtime
