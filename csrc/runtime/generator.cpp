#include "runtime/generator.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstring>
#include <deque>
#include <mutex>

#include "runtime/device.h"

namespace torchtpu::runtime {

GeneratorImpl::GeneratorImpl(c10::DeviceIndex device)
    : c10::GeneratorImpl({c10::DeviceType::PrivateUse1, device}, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)) {}

GeneratorImpl::Draw GeneratorImpl::draw() {
  std::lock_guard lock(mutex_);
  return {seed_, offset_++};
}

void GeneratorImpl::set_current_seed(uint64_t seed) {
  seed_ = seed;
  offset_ = 0;
}

uint64_t GeneratorImpl::seed() {
  set_current_seed(c10::detail::getNonDeterministicRandom());
  return seed_;
}

void GeneratorImpl::set_state(const c10::TensorImpl& state) {
  TORCH_CHECK_TYPE(state.layout() == c10::kStrided && state.device_type() == c10::DeviceType::CPU &&
                       state.dtype() == caffe2::TypeMeta::Make<uint8_t>(),
                   "RNG state must be a torch.ByteTensor");
  TORCH_CHECK(state.numel() == 16 && state.is_contiguous(), "RNG state is wrong size");
  const auto* bytes = static_cast<const uint8_t*>(state.data());
  std::memcpy(&seed_, bytes, 8);
  std::memcpy(&offset_, bytes + 8, 8);
}

c10::intrusive_ptr<c10::TensorImpl> GeneratorImpl::get_state() const {
  auto state = at::empty({16}, at::TensorOptions().dtype(at::kByte).device(at::kCPU));
  auto* bytes = static_cast<uint8_t*>(state.mutable_data_ptr());
  std::memcpy(bytes, &seed_, 8);
  std::memcpy(bytes + 8, &offset_, 8);
  return state.getIntrusivePtr();
}

GeneratorImpl* GeneratorImpl::clone_impl() const {
  auto* copy = new GeneratorImpl(device_.index());
  copy->seed_ = seed_;
  copy->offset_ = offset_;
  return copy;
}

namespace {

struct DefaultGenerators {
  std::mutex mutex;
  std::deque<at::Generator> made;  // a deque: references stay valid while it grows
  uint64_t seed = c10::default_rng_seed_val;  // of those still to be made
};

DefaultGenerators& default_generators() {
  static auto* instance = new DefaultGenerators;
  return *instance;
}

}  // namespace

const at::Generator& default_generator(c10::DeviceIndex device) {
  auto index = static_cast<size_t>(resolve_device(device));
  auto& [mutex, made, seed] = default_generators();
  std::lock_guard lock(mutex);
  while (made.size() <= index) {
    made.push_back(at::make_generator<GeneratorImpl>(static_cast<c10::DeviceIndex>(made.size())));
    made.back().set_current_seed(seed);
  }
  return made[index];
}

void seed_default_generators(uint64_t new_seed) {
  auto& [mutex, made, seed] = default_generators();
  std::lock_guard lock(mutex);
  seed = new_seed;
  for (at::Generator& generator : made) {
    std::lock_guard generator_lock(generator.mutex());
    generator.set_current_seed(new_seed);
  }
}

}  // namespace torchtpu::runtime
