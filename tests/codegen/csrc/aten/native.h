#pragma once
namespace torchtpu::native {
at::Tensor as_strided(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride,
                      std::optional<int64_t> storage_offset);
at::Tensor& set_(at::Tensor& self);
}  // namespace torchtpu::native
