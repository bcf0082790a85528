// torch.autocast("tpu", ...): every op that CUDA's autocast knows, under the same policy, from ATen's own lists, unless
// its entry in ops.yaml names another.
#include <ATen/autocast_mode.h>
#include <torch/library.h>

#include "dispatch/autocast.h"

namespace at::autocast {

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

namespace {

Tensor refuse_binary_cross_entropy(const Tensor&, const Tensor&, const std::optional<Tensor>&, int64_t) {
  TORCH_CHECK(false, "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast: a probability that is "
              "rounded to half precision has no finite logarithm near 0 and 1.\nUse binary_cross_entropy_with_logits or "
              "BCEWithLogitsLoss on the logits instead; they are safe to autocast.");
}

// Stands in for the library in ATen's macros, which call `m.impl`.
class Lists {
 public:
  explicit Lists(torch::Library& library) : library_(library) {}
  template <class Kernel>
  void impl(const char* overload, Kernel&& kernel) {
    if (!torchtpu::dispatch::has_autocast_spec(overload)) library_.impl(overload, std::forward<Kernel>(kernel));
  }

 private:
  torch::Library& library_;
};

}  // namespace

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, library) {
  Lists m(library);
#define TORCHTPU_LOWER(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define TORCHTPU_FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define TORCHTPU_FP32_SET_OPT_DTYPE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define TORCHTPU_PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
  AT_FORALL_LOWER_PRECISION_FP(TORCHTPU_LOWER)
  AT_FORALL_FP32(TORCHTPU_FP32)
  AT_FORALL_FP32_SET_OPT_DTYPE(TORCHTPU_FP32_SET_OPT_DTYPE)
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
  AT_FORALL_PROMOTE(TORCHTPU_PROMOTE)

  m.impl("aten::binary_cross_entropy", TORCH_FN(refuse_binary_cross_entropy));
}

}  // namespace at::autocast
