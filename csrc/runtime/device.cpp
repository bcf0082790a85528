#include "runtime/device.h"

#include <c10/util/Exception.h>

#include "pjrt/client.h"
#include "runtime/live_buffers.h"

namespace torchtpu::runtime {
namespace {

thread_local c10::DeviceIndex current = 0;

}  // namespace

c10::DeviceIndex device_count() noexcept {
  try {
    return static_cast<c10::DeviceIndex>(pjrt::Client::get().device_count());
  } catch (const std::exception&) {
    return 0;  // the same failure is raised, with its reason, by the first allocation
  }
}

c10::DeviceIndex current_device() noexcept { return current; }

void set_device(c10::DeviceIndex device) { current = resolve_device(device); }

c10::DeviceIndex resolve_device(c10::DeviceIndex device) {
  if (device == current || device == -1) return current;
  auto count = static_cast<c10::DeviceIndex>(pjrt::Client::get().device_count());
  TORCH_CHECK(device >= 0 && device < count, "tpu:", static_cast<int>(device), " does not exist: this process has ",
              static_cast<int>(count), " tpu device", count == 1 ? "" : "s");
  return device;
}

void synchronize(c10::DeviceIndex device) { await_live_buffers(resolve_device(device)); }

}  // namespace torchtpu::runtime
