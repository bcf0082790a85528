// The entries of sparse COO tensors as dense tensors: what the kernels of this folder share.
#pragma once

#include <ATen/core/Tensor.h>

namespace torchtpu::native::sparse {

// One number per entry: where it is in a dense tensor of the dimensions `dims`, which are sparse ones.
at::Tensor positions(const at::Tensor& indices, at::IntArrayRef sizes, at::IntArrayRef dims);
// The same for all sparse dimensions.
at::Tensor positions(const at::Tensor& tensor);

// Which of the ascending positions `in` each of `wanted` is, and whether it is among them at all; `in` is not empty.
struct Matches {
  at::Tensor at, found;
};
Matches find(const at::Tensor& wanted, const at::Tensor& in);

// A sparse tensor of the size of `like`.
at::Tensor make(const at::Tensor& like, const at::Tensor& indices, const at::Tensor& values, bool coalesced);

// Replaces what `out` is, which may have another size; dtype and device stay.
void become(const at::Tensor& out, const at::Tensor& result);

// The indices that index_put_ takes to write at the entries.
c10::List<std::optional<at::Tensor>> subscripts(const at::Tensor& indices);

// values[found], zero elsewhere: `found` has one dimension, and values any behind it.
at::Tensor where_found(const at::Tensor& found, const at::Tensor& values);

}  // namespace torchtpu::native::sparse
