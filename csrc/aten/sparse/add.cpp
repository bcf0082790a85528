// Sums of sparse tensors, and of a dense and a sparse one.
#include <ATen/ExpandUtils.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/result_type.h>
#include <torch/library.h>

#include "aten/sparse/entries.h"

namespace torchtpu::native::sparse {
namespace {

// values * alpha, in the dtype of the result.
at::Tensor scaled(const at::Tensor& values, const at::Scalar& alpha, at::ScalarType dtype) {
  auto converted = values.to(dtype);
  return alpha.equal(1) ? converted : converted.mul(alpha);
}

// The entries of both. Coalesced if both are, as on the CPU.
at::Tensor sum(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha, at::ScalarType dtype) {
  TORCH_CHECK(self.sizes().equals(other.sizes()), "add: expected sizes of 'self' and 'other' to match, but ", self.sizes(), " != ",
              other.sizes());
  TORCH_CHECK(self.sparse_dim() == other.sparse_dim() && self.dense_dim() == other.dense_dim(),
              "add: expected 'self' and 'other' to have same density, but 'self' has ", self.sparse_dim(),
              " sparse dimensions while 'other' has ", other.sparse_dim(), " sparse dimensions");
  if (other._nnz() == 0) return make(self, self._indices().clone(), self._values().to(dtype, false, true), self.is_coalesced());
  auto added = scaled(other._values(), alpha, dtype);
  if (self._nnz() == 0) return make(self, other._indices().clone(), added.clone(), other.is_coalesced());
  auto both = make(self, at::cat({self._indices(), other._indices()}, 1), at::cat({self._values().to(dtype), added}, 0), false);
  return self.is_coalesced() && other.is_coalesced() ? both.coalesce() : both;
}

// out = dense + alpha * sparse, where `out` may be `dense`.
void add_to_dense(const at::Tensor& out, const at::Tensor& dense, const at::Tensor& sparse, const at::Scalar& alpha,
                  at::ScalarType dtype) {
  TORCH_CHECK(dense.sizes().equals(sparse.sizes()), "add: expected 'self' and 'other' to have same size, but self has size ",
              dense.sizes(), " while other has size ", sparse.sizes(),
              " (FYI, op2-sparse addition does not currently support broadcasting)");
  if (out.scalar_type() != dtype) {
    auto result = dense.to(dtype, false, true);
    add_to_dense(result, result, sparse, alpha, dtype);
    if (!out.is_same(dense)) out.resize_(dense.sizes());
    out.copy_(result);
    return;
  }
  if (!out.is_same(dense)) out.resize_(dense.sizes()).copy_(dense);
  if (sparse._nnz() == 0 || out.numel() == 0) return;
  auto added = scaled(sparse._values(), alpha, dtype);
  if (sparse.sparse_dim() == 0) {
    out.add_(added.sum(0));
  } else {
    out.index_put_(subscripts(sparse._indices()), added, /*accumulate=*/true);
  }
}

at::Tensor& add_out(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha, at::Tensor& out) {
  TORCH_CHECK(self.device() == other.device() && self.device() == out.device(),
              "Expected all tensors to be on the same device, but found at least two devices, ", self.device(), " and ",
              self.device() == other.device() ? out.device() : other.device(), "!");
  auto dtype = at::result_type(self, other);
  TORCH_CHECK(at::canCast(dtype, out.scalar_type()), "Can't convert result type ", dtype, " to output ", out.scalar_type(),
              " in add operation");
  if (!self.is_sparse()) {
    TORCH_CHECK(!out.is_sparse(), "add: expected 'out' to be dense, since 'self' is");
    add_to_dense(out, self, other, alpha, dtype);
    return out;
  }
  TORCH_CHECK(other.is_sparse(), "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
  become(out, sum(self, other, alpha, dtype));
  return out;
}

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) { m.impl("add.out", &add_out); }

}  // namespace
}  // namespace torchtpu::native::sparse
