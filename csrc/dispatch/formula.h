// Gradients of ops that torch only composes of others: an entry's `autograd: {saves, backward}`.
#pragma once

#include <torch/library.h>

#include <cstdint>
#include <vector>

namespace torchtpu::dispatch {

// What an argument of the backward op is.
struct Binding {
  enum class Kind : uint8_t {
    Gradient,  // of output `index`
    Argument,  // argument `index` of the forward op, saved if it is a tensor
    Output,    // output `index` of the forward op, saved
    Mask,      // which gradients are wanted
  };
  Kind kind;
  uint16_t index = 0;
};

struct FormulaSpec {
  const char* overload;            // "gru_cell"
  const char* backward;            // "tpu::gru_cell_backward"
  std::vector<Binding> arguments;  // of the backward op
  std::vector<uint16_t> wrt;       // the arguments of the forward op that its returns are the gradients of
};

// Registers one boxed kernel per spec on AutogradPrivateUse1. The specs must outlive the library. Where a formula does not
// reach, in forward mode, under torch.func and when its gradient is itself differentiated, torch's composition of the op takes its
// place.
void register_formulas(torch::Library& library, const std::vector<FormulaSpec>& specs);

// Ops of ours without a formula: differentiating them raises, instead of returning a result that is cut off from the graph.
void refuse_gradients(torch::Library& library, const std::vector<const char*>& overloads);

}  // namespace torchtpu::dispatch
