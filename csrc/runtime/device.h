// Devices of the process and the calling thread's current one.
#pragma once

#include <c10/core/Device.h>

namespace torchtpu::runtime {

// 0 when there is no usable plugin; creates the client on first use.
c10::DeviceIndex device_count() noexcept;
c10::DeviceIndex current_device() noexcept;
// Throws for an index that does not exist.
void set_device(c10::DeviceIndex device);
// An index of -1 means the current device; throws for one that does not exist.
c10::DeviceIndex resolve_device(c10::DeviceIndex device);
// Blocks until everything that was issued to the device has finished; throws what failed meanwhile.
void synchronize(c10::DeviceIndex device);

}  // namespace torchtpu::runtime
