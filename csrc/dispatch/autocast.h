// torch.autocast("tpu", ...) for the entries of ops.yaml that name a policy; all other ops follow ATen's lists.
#pragma once

#include <torch/library.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace torchtpu::dispatch {

// What becomes of the tensors of floats among the arguments, float64 excepted, which ATen's policies leave alone too.
enum class AutocastPolicy : uint8_t {
  Lower,        // autocast's own dtype
  Fp32,         // float32
  Promote,      // the widest of them, and autocast's dtype at least
  Fallthrough,  // nothing
};

struct AutocastSpec {
  const char* overload;
  AutocastPolicy policy;
};

// The table in generated/csrc.
const std::vector<AutocastSpec>& autocast_specs();
// Whether the table has this overload: "aten::exp".
bool has_autocast_spec(const char* overload);
// Registers the table's overloads of a namespace on AutocastPrivateUse1.
void register_autocast(torch::Library& library, std::string_view op_namespace);

}  // namespace torchtpu::dispatch
