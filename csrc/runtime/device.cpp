#include "runtime/device.h"

#include <c10/util/Exception.h>

#include "pjrt/client.h"

namespace torchtpu::runtime {
namespace {

thread_local c10::DeviceIndex current = 0;

size_t count_devices() {
  if (!pjrt::Client::exists()) {
    if (auto count = pjrt::Client::device_count_to_come()) return *count;
  }
  return pjrt::Client::get().device_count();
}

}  // namespace

bool is_available() noexcept {
  try {
    if (!pjrt::Client::exists()) pjrt::choose_plugin();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

c10::DeviceIndex device_count() noexcept {
  try {
    return static_cast<c10::DeviceIndex>(count_devices());
  } catch (const std::exception&) {
    return 0;  // the same failure is raised, with its reason, by the first allocation
  }
}

c10::DeviceIndex current_device() noexcept { return current; }

void set_device(int64_t device) { current = resolve_device(device); }

c10::DeviceIndex resolve_device(int64_t device) {
  if (device == current || device == -1) return current;
  auto count = static_cast<int64_t>(count_devices());
  TORCH_CHECK(device >= 0 && device < count, "tpu error: invalid device ordinal: tpu:", device,
              " does not exist: this process has ", count, " tpu device", count == 1 ? "" : "s");
  return static_cast<c10::DeviceIndex>(device);
}

}  // namespace torchtpu::runtime
