// Products of a sparse matrix with a dense one: each entry adds a multiple of a row.
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "aten/sparse/entries.h"

namespace torchtpu::native::sparse {
namespace {

// Sums that are not kept in a wider type would lose digits with every row that is added.
at::ScalarType sum_type(at::ScalarType dtype) { return at::isReducedFloatingType(dtype) ? at::kFloat : dtype; }

// mat1 @ mat2, in the type of the sums.
at::Tensor product(const at::Tensor& mat1, const at::Tensor& mat2) {
  auto type = sum_type(mat2.scalar_type());
  auto out = at::zeros({mat1.size(0), mat2.size(1)}, mat2.options().dtype(type));
  if (mat1._nnz() == 0 || out.numel() == 0) return out;
  auto rows = mat1._indices().select(0, 0), columns = mat1._indices().select(0, 1);
  auto terms = mat2.index_select(0, columns).to(type).mul(mat1._values().to(type).unsqueeze(1));
  return out.index_add_(0, rows, terms);
}

void check(const at::Tensor& mat1, const at::Tensor& mat2) {
  TORCH_CHECK(mat1.is_sparse() && !mat2.is_sparse(), "torchtpu: addmm of sparse tensors: mat1 should be sparse and mat2 dense");
  TORCH_CHECK(mat1.device() == mat2.device(), "Expected all tensors to be on the same device, but found at least two devices, ",
              mat1.device(), " and ", mat2.device(), "!");
  TORCH_CHECK(mat1.sparse_dim() == 2, "addmm: matrices expected, got ", mat1.sparse_dim(), "D tensor");
  TORCH_CHECK(mat1.dense_dim() == 0, "addmm: scalar values expected, got ", mat1.dense_dim(), "D values");
  TORCH_CHECK(mat2.dim() == 2, "addmm: matrices expected, got ", mat2.dim(), "D tensor");
  TORCH_CHECK(mat1.size(1) == mat2.size(0), "addmm: Argument #3 (dense): Expected dim 0 size ", mat1.size(1), ", got ",
              mat2.size(0));
  TORCH_CHECK(mat1.scalar_type() == mat2.scalar_type(), "addmm: expected 'mat1' and 'mat2' to have the same dtype, but got ",
              mat1.scalar_type(), " and ", mat2.scalar_type());
}

at::Tensor addmm(const at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2, const at::Scalar& beta,
                 const at::Scalar& alpha) {
  check(mat1, mat2);
  TORCH_CHECK(!self.is_sparse(), "torchtpu: addmm: expected 'self' to be dense");
  auto result = product(mat1, mat2);
  if (!alpha.equal(1)) result.mul_(alpha);
  auto expanded = self.expand(result.sizes());
  if (!beta.equal(0)) result.add_(beta.equal(1) ? expanded : expanded.mul(beta));  // 0 * nan is not to be seen
  return result.to(mat2.scalar_type());
}

at::Tensor& addmm_out(const at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2, const at::Scalar& beta,
                      const at::Scalar& alpha, at::Tensor& out) {
  auto result = addmm(self, mat1, mat2, beta, alpha);
  return out.resize_(result.sizes()).copy_(result);
}

at::Tensor& addmm_(at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2, const at::Scalar& beta,
                   const at::Scalar& alpha) {
  return self.copy_(addmm(self, mat1, mat2, beta, alpha));
}

// A batch is one matrix product whose rows are those of all matrices.
at::Tensor bmm(const at::Tensor& self, const at::Tensor& mat2) {
  TORCH_CHECK(self.is_sparse() && !mat2.is_sparse(), "bmm_sparse: Tensor 'self' must be sparse and 'mat2' dense");
  TORCH_CHECK(self.dense_dim() == 0, "bmm_sparse: Tensor 'self' must have 0 dense dims, but has ", self.dense_dim());
  TORCH_CHECK(self.sparse_dim() == 3, "bmm_sparse: Tensor 'self' must have 3 sparse dims, but has ", self.sparse_dim());
  TORCH_CHECK(mat2.dim() == 3, "bmm_sparse: Tensor 'mat2' must have 3 dims, but has ", mat2.dim());
  TORCH_CHECK(self.size(0) == mat2.size(0), "bmm_sparse: 'self.size(0)' and 'mat2.size(0)' must match");
  TORCH_CHECK(self.size(2) == mat2.size(1), "bmm_sparse: 'self.size(2)' and 'mat2.size(1)' must match");
  int64_t batches = self.size(0), rows = self.size(1), inner = self.size(2), columns = mat2.size(2);
  auto indices = at::empty({2, self._nnz()}, self._indices().options());
  indices.select(0, 0).copy_(positions(self._indices(), self.sizes(), {0, 1}));
  indices.select(0, 1).copy_(positions(self._indices(), self.sizes(), {0, 2}));
  auto tall = make(at::empty({batches * rows, batches * inner}, self.options()), indices, self._values(), false);
  return product(tall, mat2.reshape({batches * inner, columns})).to(mat2.scalar_type()).view({batches, rows, columns});
}

at::Tensor& bmm_out(const at::Tensor& self, const at::Tensor& mat2, at::Tensor& out) {
  auto result = bmm(self, mat2);
  return out.resize_(result.sizes()).copy_(result);
}

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) {
  m.impl("addmm", &addmm);
  m.impl("addmm.out", &addmm_out);
  m.impl("addmm_", &addmm_);
  m.impl("bmm", &bmm);
  m.impl("bmm.out", &bmm_out);
}

}  // namespace
}  // namespace torchtpu::native::sparse
