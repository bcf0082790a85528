// The one kernel behind every generated registration.
#pragma once

#include <ATen/core/stack.h>

#include "dispatch/op_spec.h"

namespace torchtpu::dispatch {

// Runs the overload on the arguments on top of the stack and replaces them by its results.
void run(const OpSpec& spec, torch::jit::Stack* stack);

}  // namespace torchtpu::dispatch
