#include "runtime/memory.h"

#include "pjrt/accounting.h"

namespace torchtpu::runtime {

int64_t bytes_in_use(c10::DeviceIndex device) { return pjrt::accounting(device).in_use(); }
int64_t peak_bytes_in_use(c10::DeviceIndex device) { return pjrt::accounting(device).peak(); }
void reset_peak_bytes_in_use(c10::DeviceIndex device) { pjrt::accounting(device).reset_peak(); }

}  // namespace torchtpu::runtime
