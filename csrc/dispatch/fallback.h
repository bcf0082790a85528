// What happens to a call that no entry serves: it runs on the CPU, counted (design D9).
#pragma once

#include <ATen/core/stack.h>

#include <map>
#include <string>

#include "dispatch/op_spec.h"

namespace torchtpu::dispatch {

// For a call with dtypes that its entry leaves to the CPU; `why` says so. Throws PyTorch's own error where its CPU
// refuses them too.
void fall_back(const OpSpec& spec, const std::string& why, torch::jit::Stack* stack);

// Calls per overload since the start or the last reset.
std::map<std::string, int64_t> fallback_counts();
void reset_fallback_counts();

}  // namespace torchtpu::dispatch
