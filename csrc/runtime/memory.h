// What is known of the memory of a device, in PyTorch's terms.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <cstdint>
#include <utility>

namespace torchtpu::runtime {

// Figures of live buffers. There is no caching allocator above PJRT: a block is a buffer, and a segment of its own.
c10::CachingDeviceAllocator::DeviceStats memory_stats(c10::DeviceIndex device);
// What live buffers hold, in bytes.
int64_t bytes_in_use(c10::DeviceIndex device);
// All the memory that there is, in bytes: the device's, which on the CPU platform is the machine's.
int64_t memory_size(c10::DeviceIndex device);
// What of it is free, and all of it.
std::pair<size_t, size_t> memory_info(c10::DeviceIndex device);

}  // namespace torchtpu::runtime
