#include "runtime/memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "pjrt/accounting.h"
#include "pjrt/client.h"

namespace torchtpu::runtime {
namespace {

using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatArray;
using c10::CachingAllocator::StatType;

// PJRT has no pools, so that there is nothing to tell of the small and the large one.
StatArray in_all(pjrt::Tally::Reading reading) {
  StatArray stats;
  Stat& all = stats[static_cast<size_t>(StatType::AGGREGATE)];
  all.current = reading.current;
  all.peak = reading.peak;
  all.allocated = reading.allocated;
  all.freed = reading.freed;
  return stats;
}

// What the kernel says could be had without swapping, which is more than what nobody uses.
size_t available_host_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (size_t kibibytes = 0; file >> name >> kibibytes && std::getline(file, unit);) {
    if (name == "MemAvailable:") return kibibytes << 10;
  }
  return static_cast<size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

c10::CachingDeviceAllocator::DeviceStats memory_stats(c10::DeviceIndex device) {
  const auto& accounting = pjrt::accounting(static_cast<size_t>(device));
  c10::CachingDeviceAllocator::DeviceStats stats;
  stats.allocation = stats.active = in_all(accounting.blocks());
  stats.allocated_bytes = stats.active_bytes = stats.requested_bytes = in_all(accounting.bytes());
  auto segments = accounting.all_blocks();
  stats.segment = in_all(segments);
  stats.reserved_bytes = in_all(accounting.all_bytes());
  stats.num_device_alloc = segments.allocated;
  stats.num_device_free = segments.freed;
  stats.num_ooms = accounting.ooms();
  return stats;
}

int64_t bytes_in_use(c10::DeviceIndex device) {
  return pjrt::accounting(static_cast<size_t>(device)).all_bytes().current;
}

int64_t memory_size(c10::DeviceIndex device) {
  auto limit = pjrt::Client::get().memory_stats(static_cast<size_t>(device)).bytes_limit;
  return limit > 0 ? limit : static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

std::pair<size_t, size_t> memory_info(c10::DeviceIndex device) {
  auto size = static_cast<size_t>(memory_size(device));
  auto stats = pjrt::Client::get().memory_stats(static_cast<size_t>(device));
  if (stats.bytes_limit <= 0) return {available_host_bytes(), size};
  return {size - std::min(size, static_cast<size_t>(std::max<int64_t>(stats.bytes_in_use, 0))), size};
}

}  // namespace torchtpu::runtime
