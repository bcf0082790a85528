// The hooks by which PyTorch asks for generators, availability and storage growth.
#include <ATen/detail/PrivateUse1HooksInterface.h>

#include "pjrt/client.h"
#include "runtime/device.h"
#include "runtime/generator.h"
#include "runtime/host_allocator.h"
#include "runtime/storage.h"

namespace torchtpu::runtime {
namespace {

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return is_available(); }
  void init() const override { pjrt::Client::get(); }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return pjrt::Client::exists(); }

  c10::DeviceIndex deviceCount() const override { return device_count(); }
  void setCurrentDevice(c10::DeviceIndex device) const override { set_device(device); }
  c10::DeviceIndex getCurrentDevice() const override { return current_device(); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    auto previous = current_device();
    set_device(device);
    return previous;
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override { return exchangeDevice(device); }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override { return default_generator(device); }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return at::make_generator<GeneratorImpl>(resolve_device(device));
  }
  c10::Allocator* getPinnedMemoryAllocator() const override { return host_allocator(); }
  bool isPinnedPtr(const void*) const override { return false; }
  c10::Device getDeviceFromPtr(void*) const override {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "torchtpu: device memory has no host address");
  }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t nbytes) const override { resize(storage, nbytes); }
};

struct Registration {
  Registration() { at::RegisterPrivateUse1HooksInterface(new Hooks); }
} registration;

}  // namespace
}  // namespace torchtpu::runtime
