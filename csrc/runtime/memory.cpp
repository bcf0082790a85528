#include "runtime/memory.h"

#include <unistd.h>

#include "pjrt/accounting.h"
#include "pjrt/client.h"

namespace torchtpu::runtime {

int64_t bytes_in_use(c10::DeviceIndex device) { return pjrt::accounting(device).in_use(); }
int64_t peak_bytes_in_use(c10::DeviceIndex device) { return pjrt::accounting(device).peak(); }
void reset_peak_bytes_in_use(c10::DeviceIndex device) { pjrt::accounting(device).reset_peak(); }

int64_t memory_size(c10::DeviceIndex device) {
  auto limit = pjrt::Client::get().memory_stats(static_cast<size_t>(device)).bytes_limit;
  return limit > 0 ? limit : static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
}

}  // namespace torchtpu::runtime
