// Devices of the process and the calling thread's current one.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace torchtpu::runtime {

// Whether there is a plugin to run a device; does not start it.
bool is_available() noexcept;
// 0 when there is no usable plugin. Starts the runtime only where nothing else tells.
c10::DeviceIndex device_count() noexcept;
c10::DeviceIndex current_device() noexcept;
// Throws for an index that does not exist.
void set_device(int64_t device);
// An index of -1 means the current device; throws for one that does not exist. Starts the runtime where it must, to
// know.
c10::DeviceIndex resolve_device(int64_t device);

}  // namespace torchtpu::runtime
