#include "runtime/streams.h"

#include <array>
#include <atomic>
#include <utility>

#include "pjrt/accounting.h"
#include "runtime/device.h"

namespace torchtpu::runtime {
namespace {

thread_local std::array<c10::StreamId, pjrt::kMaxDevices> current_ids{};

c10::Stream make_stream(c10::DeviceIndex device, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, {c10::DeviceType::PrivateUse1, device}, id);
}

}  // namespace

c10::Stream default_stream(c10::DeviceIndex device) { return make_stream(resolve_device(device), 0); }

c10::Stream new_stream(c10::DeviceIndex device) {
  static std::atomic<c10::StreamId> last{0};
  return make_stream(resolve_device(device), ++last);
}

c10::Stream current_stream(c10::DeviceIndex device) {
  device = resolve_device(device);
  return make_stream(device, current_ids[static_cast<size_t>(device)]);
}

c10::Stream exchange_stream(c10::Stream stream) {
  auto device = resolve_device(stream.device_index());
  return make_stream(device, std::exchange(current_ids[static_cast<size_t>(device)], stream.id()));
}

}  // namespace torchtpu::runtime
