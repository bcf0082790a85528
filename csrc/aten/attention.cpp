#include <ATen/native/DispatchStub.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>

#include "aten/native.h"

namespace torchtpu::native {

// scaled_dot_product_attention takes the entry that PyTorch leaves to devices, one program for scores, softmax and values, wherever
// there are a batch and heads; what has other dimensions is composed of matmul and softmax.
int64_t _fused_sdp_choice(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const std::optional<at::Tensor>&, double, bool, std::optional<double>, bool) {
  bool fused = query.dim() == 4 && key.dim() == 4 && value.dim() == 4;
  return static_cast<int64_t>(fused ? sdp::SDPBackend::overrideable : sdp::SDPBackend::math);
}

// Whether a padding mask lets nn.TransformerEncoder work on nested tensors, of which the device has none.
bool _nested_tensor_from_mask_left_aligned(const at::Tensor&, const at::Tensor&) { return false; }

}  // namespace torchtpu::native

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &torchtpu::native::_fused_sdp_choice)
}
