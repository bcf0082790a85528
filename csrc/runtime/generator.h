// torch.Generator("tpu"): a seed and a counter, from which a program derives its random numbers.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

namespace torchtpu::runtime {

class GeneratorImpl final : public c10::GeneratorImpl {
 public:
  explicit GeneratorImpl(c10::DeviceIndex device);

  static c10::DeviceType device_type() { return c10::DeviceType::PrivateUse1; }

  // The seed and the counter for one execution; the counter then moves on, so that no two executions draw the same numbers.
  struct Draw {
    uint64_t seed, offset;
  };
  Draw draw();

  void set_current_seed(uint64_t seed) override;
  void set_offset(uint64_t offset) override { offset_ = offset; }
  uint64_t get_offset() const override { return offset_; }
  uint64_t current_seed() const override { return seed_; }
  uint64_t seed() override;
  // The state is a CPU byte tensor of 16: seed and offset, little-endian.
  void set_state(const c10::TensorImpl& state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;

 private:
  GeneratorImpl* clone_impl() const override;

  uint64_t seed_ = c10::default_rng_seed_val;
  uint64_t offset_ = 0;
};

// The generator that torch.manual_seed seeds; one a device.
const at::Generator& default_generator(c10::DeviceIndex device);
// Seeds them all, those of devices that nobody has asked for yet included: how many there are need not be known.
void seed_default_generators(uint64_t seed);

}  // namespace torchtpu::runtime
