#include <ATen/ops/_embedding_bag_backward_native.h>

#include "aten/native.h"

namespace torchtpu::native {

// ATen's own choice between a dense gradient, which is one program, and a sparse one.
at::Tensor _embedding_bag_backward(const at::Tensor& grad, const at::Tensor& indices, const at::Tensor& offsets,
                                   const at::Tensor& offset2bag, const at::Tensor& bag_size,
                                   const at::Tensor& maximum_indices, c10::SymInt num_weights, bool scale_grad_by_freq,
                                   int64_t mode, bool sparse, const std::optional<at::Tensor>& per_sample_weights,
                                   int64_t padding_idx) {
  return at::native::_embedding_bag_backward_symint(grad, indices, offsets, offset2bag, bag_size, maximum_indices,
                                                    std::move(num_weights), scale_grad_by_freq, mode, sparse,
                                                    per_sample_weights, padding_idx);
}

}  // namespace torchtpu::native
