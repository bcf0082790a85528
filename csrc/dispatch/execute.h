// The hit path: operands in, one execution, results out.
#pragma once

#include <ATen/core/stack.h>

#include "cache/program.h"
#include "dispatch/call.h"

namespace torchtpu::dispatch {

using Starts = c10::SmallVector<int64_t, 16>;

// The starts of all views of the call, in the program's order. False when a view does not fit its plan at this call's offset; that
// use is then switched to a gather.
bool find_starts(Call& call, const cache::Program& program, Starts& starts);

// Whether a program that read so many bytes may still be under way when its results have been dropped: see
// pjrt/in_flight.h.
bool outlasts_its_results(size_t operand_bytes);

// Runs the program, which `pin` keeps loaded, and replaces the arguments on the stack by the results.
void execute(const Call& call, const cache::Program& program, cache::Pin pin, const Starts& starts, torch::jit::Stack* stack);

}  // namespace torchtpu::dispatch
