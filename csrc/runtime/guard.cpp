// The device guard: how PyTorch asks for devices, streams and events.
#include <c10/core/DeviceCapability.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/streams.h"
#include "runtime/work.h"

namespace torchtpu::runtime {
namespace {

constexpr auto kType = c10::DeviceType::PrivateUse1;

using Recorded = std::shared_ptr<const Point>;

const Point& recorded(void* event) { return **static_cast<Recorded*>(event); }

struct Guard final : c10::impl::DeviceGuardImplInterface {
  static constexpr c10::DeviceType static_type = kType;

  c10::DeviceType type() const override { return kType; }
  c10::Device getDevice() const override { return {kType, current_device()}; }
  void setDevice(c10::Device device) const override { set_device(device.index()); }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    try {
      set_device(device.index());
    } catch (const std::exception&) {
      // By contract the caller restores a device that was current before, so this cannot be reached with one that is not there.
    }
  }
  c10::Device exchangeDevice(c10::Device device) const override {
    auto previous = getDevice();
    setDevice(device);
    return previous;
  }
  c10::DeviceIndex deviceCount() const noexcept override { return device_count(); }
  void synchronizeDevice(c10::DeviceIndex device) const override { synchronize(resolve_device(device)); }
  c10::DeviceCapability getDeviceCapability(c10::Device device) const override {
    resolve_device(device.index());
    c10::DeviceCapability capability;
    auto& bits = capability.capability_data.capability_bits;
#define TORCHTPU_CLEAR_IF_MISSING(type, name) \
  if (!find_element_type(c10::ScalarType::name)) bits &= ~(uint64_t{1} << c10::kIndex_##name);
    AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(TORCHTPU_CLEAR_IF_MISSING)
#undef TORCHTPU_CLEAR_IF_MISSING
    return capability;
  }

  c10::Stream getStream(c10::Device device) const override { return current_stream(device.index()); }
  c10::Stream getDefaultStream(c10::Device device) const override { return default_stream(device.index()); }
  // Priorities mean nothing to streams that share a queue.
  c10::Stream getNewStream(c10::Device device, int) const override { return new_stream(device.index()); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override { return new_stream(device.index()); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return exchange_stream(stream); }
  bool queryStream(const c10::Stream& stream) const override { return is_idle(resolve_device(stream.device_index())); }
  void synchronizeStream(const c10::Stream& stream) const override {
    synchronize(resolve_device(stream.device_index()));
  }
  // Nothing is recycled before the programs that use it have run.
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}

  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex device,
              const c10::EventFlag) const override {
    TORCH_CHECK(device == -1 || device == stream.device_index(), "Event device index ", static_cast<int>(device),
                " does not match recording stream's device index ", static_cast<int>(stream.device_index()), ".");
    Recorded point = Point::mark(resolve_device(stream.device_index()));
    if (*event) {
      *static_cast<Recorded*>(*event) = std::move(point);
    } else {
      *event = new Recorded(std::move(point));
    }
  }
  // Work on the event's device comes after it anyway. Work on another device waits for the buffers that it reads, and
  // there is no other way in which it could see that the event has not happened yet.
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void* event) const override { return !event || recorded(event).reached(); }
  void synchronizeEvent(void* event) const override {
    if (event) recorded(event).await();
  }
  double elapsedTime(void* start, void* end, const c10::DeviceIndex) const override {
    return std::chrono::duration<double, std::milli>(recorded(end).time() - recorded(start).time()).count();
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    delete static_cast<Recorded*>(event);
  }
};

}  // namespace

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

}  // namespace torchtpu::runtime
