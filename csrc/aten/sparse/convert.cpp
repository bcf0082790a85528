// Between layouts, and between devices.
#include <ATen/ops/_to_sparse_native.h>
#include <torch/library.h>

#include "aten/sparse/entries.h"

namespace torchtpu::native::sparse {
namespace {

// Made of ops on dense tensors: serves every device.
at::Tensor to_sparse_dim(const at::Tensor& self, int64_t sparse_dim) { return at::native::dense_to_sparse(self, sparse_dim); }

at::Tensor to_sparse(const at::Tensor& self, std::optional<at::Layout> layout, at::OptionalIntArrayRef blocksize,
                     std::optional<int64_t> dense_dim) {
  return at::native::dense_to_sparse(self, layout, blocksize, dense_dim);
}

// How the CPU fallback writes back what an op changed.
at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst) {
  auto out = dst;
  return out.copy_(self);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_to_sparse", &to_sparse);
  m.impl("_to_sparse.sparse_dim", &to_sparse_dim);
}

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) { m.impl("_copy_from_and_resize", &copy_from_and_resize); }

}  // namespace
}  // namespace torchtpu::native::sparse
