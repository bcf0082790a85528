// What is known of the memory of a device, in PyTorch's terms.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <utility>

namespace torchtpu::runtime {

// Figures of live buffers. There is no caching allocator above PJRT: a block is a buffer, and a segment of its own.
c10::CachingDeviceAllocator::DeviceStats memory_stats(c10::DeviceIndex device);
// Free and total bytes: of the device, or of the machine where that is the device's memory (the CPU platform).
std::pair<size_t, size_t> memory_info(c10::DeviceIndex device);

}  // namespace torchtpu::runtime
