// Ops whose results have a size that the values of a tensor decide, and nothing bounds: it is read first, which waits.
#include <ATen/Dispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_ctc_loss.h>
#include <ATen/ops/_ctc_loss_backward.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/narrow.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>

#include <bit>

#include "aten/native.h"

namespace torchtpu::native {
namespace {

// Programs are made for powers of two, so that few serve all sizes.
int64_t roomy(int64_t size) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(size, 16))));
}

at::Tensor first(const at::Tensor& padded, int64_t size) {
  return padded.size(0) == size ? padded : at::narrow(padded, 0, 0, size).clone();
}

std::vector<int64_t> read(const at::Tensor& lengths) {
  TORCH_CHECK(at::isIntegralType(lengths.scalar_type(), /*includeBool=*/false), "input_lengths must be integral");
  at::Tensor host = lengths.to(at::kCPU, at::kLong).contiguous();
  return {host.const_data_ptr<int64_t>(), host.const_data_ptr<int64_t>() + host.numel()};
}

template <class Signature>
c10::TypedOperatorHandle<Signature> find(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

}  // namespace

at::Tensor bincount(const at::Tensor& self, const std::optional<at::Tensor>& weights, c10::SymInt minlength) {
  AT_DISPATCH_INTEGRAL_TYPES(self.scalar_type(), "bincount_cpu", [] {});
  int64_t length = minlength.expect_int();
  TORCH_CHECK(length >= 0, "minlength should be >= 0");
  if (self.dim() == 1 && self.numel() == 0) return at::zeros({length}, self.options().dtype(at::kLong));
  bool counts = self.dim() == 1;
  if (counts) {
    auto [lowest, highest] = at::aminmax(self);
    counts = lowest.item<int64_t>() >= 0;
    int64_t largest = highest.item<int64_t>();
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    TORCH_CHECK(!counts || largest < kMost, "maximum value of input overflowed, it should be < ", kMost, " but got ",
                largest);
    length = std::max(length, largest + 1);
  }
  TORCH_CHECK(counts, "bincount only supports 1-d non-negative integral inputs.");
  bool weighted = weights && weights->defined();
  TORCH_CHECK(!weighted || (weights->dim() == 1 && weights->size(0) == self.size(0)),
              "weights should be 1-d and have the same length as input");
  std::optional<at::Tensor> floats;
  if (weighted) floats = weights->scalar_type() == at::kFloat ? *weights : weights->to(at::kDouble);
  static auto op = find<at::Tensor(const at::Tensor&, const std::optional<at::Tensor>&, int64_t)>("tpu::bincount");
  return first(op.call(self, floats, roomy(length)), length);
}

at::Tensor repeat_interleave_Tensor(const at::Tensor& repeats, std::optional<c10::SymInt> output_size) {
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  AT_DISPATCH_INDEX_TYPES(repeats.scalar_type(), "repeat_interleave_cpu", [] {});
  if (repeats.size(0) == 0) return at::empty_like(repeats, at::MemoryFormat::Contiguous);
  static auto op = find<at::Tensor(const at::Tensor&, int64_t)>("tpu::repeat_interleave");
  // A size that is given is to save the synchronization, as on CUDA: then nothing is checked.
  if (output_size) return op.call(repeats, output_size->expect_int());
  TORCH_CHECK(std::get<0>(at::aminmax(repeats)).item<int64_t>() >= 0, "repeats can not be negative");
  int64_t length = at::sum(repeats).item<int64_t>();
  return first(op.call(repeats, roomy(length)), length);
}

std::tuple<at::Tensor, at::Tensor> _ctc_loss_Tensor(const at::Tensor& log_probs, const at::Tensor& targets,
                                                    const at::Tensor& input_lengths, const at::Tensor& target_lengths,
                                                    int64_t blank, bool zero_infinity) {
  return at::_ctc_loss(log_probs, targets, read(input_lengths), read(target_lengths), blank, zero_infinity);
}

at::Tensor _ctc_loss_backward_Tensor(const at::Tensor& grad, const at::Tensor& log_probs, const at::Tensor& targets,
                                     const at::Tensor& input_lengths, const at::Tensor& target_lengths,
                                     const at::Tensor& neg_log_likelihood, const at::Tensor& log_alpha, int64_t blank,
                                     bool zero_infinity) {
  return at::_ctc_loss_backward(grad, log_probs, targets, read(input_lengths), read(target_lengths), neg_log_likelihood,
                                log_alpha, blank, zero_infinity);
}

}  // namespace torchtpu::native
