// Elementwise products, and what else looks up the entries of one tensor among those of another.
#include <ATen/ops/result_type.h>
#include <ATen/ops/sparse_mask_native.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "aten/sparse/entries.h"

namespace at::native {

// Serves every device, and is exported, but no header declares it.
TORCH_API Tensor& _mul_dense_sparse_out(const Tensor& dense, const Tensor& sparse, Tensor& out);

}  // namespace at::native

namespace torchtpu::native::sparse {
namespace {

void check_same_size(const char* op, const at::Tensor& self, const at::Tensor& other) {
  TORCH_CHECK(self.sizes().equals(other.sizes()), op, ": operands have incompatible sizes, ", self.sizes(), " and ", other.sizes());
  TORCH_CHECK(self.sparse_dim() == other.sparse_dim(), op, ": operands have incompatible numbers of sparse dimensions, ",
              self.sparse_dim(), " and ", other.sparse_dim());
}

// What `from` holds at the entries of `at`: zero where it has none.
at::Tensor values_at(const at::Tensor& from, const at::Tensor& at) {
  auto source = from.coalesce();
  if (source._nnz() == 0) {
    auto sizes = from._values().sizes().vec();
    sizes[0] = at._nnz();
    return at::zeros(sizes, from._values().options());
  }
  auto match = find(positions(at), positions(source));
  return where_found(match.found, source._values().index_select(0, match.at));
}

// Entries where both have one.
at::Tensor intersection(const at::Tensor& self, const at::Tensor& other, at::ScalarType dtype) {
  check_same_size("mul", self, other);
  auto left = self.coalesce(), right = other.coalesce();
  if (left._nnz() == 0 || right._nnz() == 0) {
    auto none = left._nnz() == 0 ? left : right;
    return make(self, none._indices().clone(), none._values().to(dtype, false, true), true);
  }
  auto match = find(positions(left), positions(right));
  auto chosen = match.found.nonzero().squeeze(1);
  auto values = left._values().index_select(0, chosen).to(dtype).mul(
      right._values().index_select(0, match.at.index_select(0, chosen)).to(dtype));
  return make(self, left._indices().index_select(1, chosen), values, true);
}

at::Tensor& mul_out(const at::Tensor& self, const at::Tensor& other, at::Tensor& out) {
  if (!other.is_sparse()) return at::native::_mul_dense_sparse_out(other, self, out);
  if (!self.is_sparse()) return at::native::_mul_dense_sparse_out(self, other, out);
  auto dtype = at::result_type(self, other);
  TORCH_CHECK(at::canCast(dtype, out.scalar_type()), "Can't convert result type ", dtype, " to output ", out.scalar_type(),
              " in mul operation");
  if (other.dim() == 0) return at::native::_mul_dense_sparse_out(other.to_dense(), self, out);
  if (self.dim() == 0) return at::native::_mul_dense_sparse_out(self.to_dense(), other, out);
  become(out, intersection(self, other, dtype));
  return out;
}

at::Tensor sparse_mask(const at::Tensor& self, const at::Tensor& mask) {
  if (!self.is_sparse()) return at::native::sparse_mask(self, mask);
  TORCH_CHECK(mask.is_sparse(), "sparse_mask(): the mask should be sparse COO, as the tensor is");
  check_same_size("sparse_mask", self, mask);
  return make(mask, mask._indices().clone(), values_at(self, mask), mask.is_coalesced());
}

// The sums of self's entries at those of `mask`. ATen can also take any one of several at a position: which, is left open.
at::Tensor sparse_mask_projection(const at::Tensor& self, const at::Tensor& mask, bool accumulate_matches) {
  TORCH_CHECK_NOT_IMPLEMENTED(accumulate_matches || self.is_coalesced(),
                              "torchtpu: _sparse_mask_projection: coalesce() the tensor, or accumulate its matches");
  return sparse_mask(self, mask);
}

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) {
  m.impl("mul.out", &mul_out);
  m.impl("sparse_mask", &sparse_mask);
  m.impl("_sparse_mask_projection", &sparse_mask_projection);
}

}  // namespace
}  // namespace torchtpu::native::sparse
