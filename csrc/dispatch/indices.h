// Advanced indexing's arguments, brought to the form that its lowerings take.
#pragma once

#include <ATen/core/stack.h>

namespace torchtpu::dispatch {

// Among the `num_args` on top of the stack (self, indices, ...): masks become the positions of their true elements (one
// synchronization each), indices on the CPU move to self's device. Throws IndexError as ATen does.
void prepare_indices(torch::jit::Stack& stack, size_t num_args);

// `self[mask] = value` needs no positions, and no program for each number of true elements, where all of them get the same value:
// runs it as masked_fill_ or where, on self or on a clone, and replaces the arguments by the result. False when the arguments of
// index_put on the stack are not of this form.
bool put_by_mask(torch::jit::Stack& stack, size_t num_args, bool in_place);

}  // namespace torchtpu::dispatch
