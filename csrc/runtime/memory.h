// Bytes that live device buffers hold.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace torchtpu::runtime {

int64_t bytes_in_use(c10::DeviceIndex device);
int64_t peak_bytes_in_use(c10::DeviceIndex device);
void reset_peak_bytes_in_use(c10::DeviceIndex device);
// What the device has; on the CPU platform, the machine.
int64_t memory_size(c10::DeviceIndex device);

}  // namespace torchtpu::runtime
