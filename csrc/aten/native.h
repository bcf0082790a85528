// ATen kernels that are the runtime's own: memory, views, copies. Named after the overload; registered by the `native:` entries of
// ops.yaml.
#pragma once

#include <ATen/core/Tensor.h>

namespace torchtpu::native {

at::Tensor empty_memory_format(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype,
                               std::optional<at::Layout> layout, std::optional<at::Device> device,
                               std::optional<bool> pin_memory, std::optional<at::MemoryFormat> memory_format);
at::Tensor empty_strided(c10::SymIntArrayRef size, c10::SymIntArrayRef stride, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout> layout, std::optional<at::Device> device,
                         std::optional<bool> pin_memory);

// Zeros; without the laziness that the CPU's have.
at::Tensor _efficientzerotensor(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype,
                                std::optional<at::Layout> layout, std::optional<at::Device> device,
                                std::optional<bool> pin_memory);

at::Tensor as_strided(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride,
                      std::optional<int64_t> storage_offset);
at::Tensor view(const at::Tensor& self, at::IntArrayRef size);
at::Tensor _reshape_alias(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride);
at::Tensor unfold(const at::Tensor& self, int64_t dimension, int64_t size, int64_t step);
at::Tensor view_as_real(const at::Tensor& self);
at::Tensor view_as_complex(const at::Tensor& self);

const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef size, std::optional<at::MemoryFormat> memory_format);
at::Tensor& set_(at::Tensor& self);
at::Tensor& set_source_Tensor(at::Tensor& self, const at::Tensor& source);
at::Tensor& set_source_Storage(at::Tensor& self, at::Storage source);
at::Tensor& set_source_Storage_storage_offset(at::Tensor& self, at::Storage source, int64_t storage_offset,
                                              at::IntArrayRef size, at::IntArrayRef stride);

// Copies between any two of: the host, a device, another device; any dtypes, strides and shapes that broadcast.
at::Tensor _copy_from(const at::Tensor& self, const at::Tensor& dst, bool non_blocking);
at::Tensor _copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst);
at::Scalar _local_scalar_dense(const at::Tensor& self);
bool equal(const at::Tensor& self, const at::Tensor& other);
bool is_set_to(const at::Tensor& self, const at::Tensor& tensor);
void record_stream(at::Tensor& self, at::Stream s);

// Whether `self.data = from` may turn the one into the other: module.to("tpu") keeps parameters, and what they are tied to.
bool _has_compatible_shallow_copy_type(const at::Tensor& self, const at::Tensor& from);

int64_t _fused_sdp_choice(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const std::optional<at::Tensor>& attn_mask, double dropout_p, bool is_causal,
                          std::optional<double> scale, bool enable_gqa);

// The sizes of these are in the values of a tensor, which are waited for.
at::Tensor bincount(const at::Tensor& self, const std::optional<at::Tensor>& weights, c10::SymInt minlength);
at::Tensor repeat_interleave_Tensor(const at::Tensor& repeats, std::optional<c10::SymInt> output_size);
std::tuple<at::Tensor, at::Tensor> _ctc_loss_Tensor(const at::Tensor& log_probs, const at::Tensor& targets,
                                                    const at::Tensor& input_lengths, const at::Tensor& target_lengths,
                                                    int64_t blank, bool zero_infinity);
at::Tensor _ctc_loss_backward_Tensor(const at::Tensor& grad, const at::Tensor& log_probs, const at::Tensor& targets,
                                     const at::Tensor& input_lengths, const at::Tensor& target_lengths,
                                     const at::Tensor& neg_log_likelihood, const at::Tensor& log_alpha, int64_t blank,
                                     bool zero_infinity);

at::Tensor _embedding_bag_backward(const at::Tensor& grad, const at::Tensor& indices, const at::Tensor& offsets,
                                   const at::Tensor& offset2bag, const at::Tensor& bag_size,
                                   const at::Tensor& maximum_indices, c10::SymInt num_weights, bool scale_grad_by_freq,
                                   int64_t mode, bool sparse, const std::optional<at::Tensor>& per_sample_weights,
                                   int64_t padding_idx);

bool _nested_tensor_from_mask_left_aligned(const at::Tensor& t, const at::Tensor& mask);

}  // namespace torchtpu::native
