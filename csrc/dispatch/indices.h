// Advanced indexing's arguments, brought to the form that its lowerings take.
#pragma once

#include <ATen/core/stack.h>

namespace torchtpu::dispatch {

// Among the `num_args` on top of the stack (self, indices, ...): masks become the positions of their true elements (one
// synchronization each), indices on the CPU move to self's device. Throws IndexError as ATen does.
void prepare_indices(torch::jit::Stack& stack, size_t num_args);

// `self[mask] = number` needs no positions: runs it as masked_fill_ and replaces the arguments by self. False when the arguments of
// index_put_ on the stack are not of this form.
bool run_as_masked_fill(torch::jit::Stack& stack, size_t num_args);

}  // namespace torchtpu::dispatch
