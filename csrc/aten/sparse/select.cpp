// index_select of sparse tensors, and the gradient of their sums.
#include <ATen/WrapDimUtils.h>
#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "aten/sparse/entries.h"

namespace torchtpu::native::sparse {
namespace {

// An entry comes once for each time that its place is in `index`, which may be never.
at::Tensor index_select(const at::Tensor& self, int64_t dim, const at::Tensor& index) {
  dim = at::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(index.dim() == 1 && (index.scalar_type() == at::kLong || index.scalar_type() == at::kInt),
                    "index_select(): Expected a 1-D tensor of integers as index");
  auto sizes = self.sizes().vec();
  sizes[dim] = index.size(0);
  auto indices = self._indices(), values = self._values();
  if (dim >= self.sparse_dim()) {
    auto chosen = values.index_select(dim + 1 - self.sparse_dim(), index);
    return at::_sparse_coo_tensor_unsafe(indices.clone(), chosen, sizes, self.options(), self.is_coalesced());
  }
  auto wanted = index.to(at::kLong);
  if (wanted.numel()) {
    TORCH_CHECK_INDEX(wanted.min().item<int64_t>() >= -self.size(dim) && wanted.max().item<int64_t>() < self.size(dim),
                      "index_select(): index out of range for dimension ", dim, " of size ", self.size(dim));
    wanted = wanted.add(wanted.lt(0).to(at::kLong).mul(self.size(dim)));
  }
  auto [sorted, order] = at::sort(wanted, /*stable=*/true, 0, /*descending=*/false);
  auto places = indices.select(0, dim).contiguous();
  auto first = at::searchsorted(sorted, places);
  auto times = at::searchsorted(sorted, places, /*out_int32=*/false, /*right=*/true).sub(first);
  auto entry = at::repeat_interleave(times);
  auto before = at::cumsum(times, 0).sub(times).sub(first);
  auto which = at::arange(entry.size(0), entry.options()).sub(before.index_select(0, entry));
  auto chosen = indices.index_select(1, entry);
  chosen.select(0, dim).copy_(order.index_select(0, which));
  return at::_sparse_coo_tensor_unsafe(chosen, values.index_select(0, entry), sizes, self.options(),
                                      index.size(0) == 0 || (index.size(0) == 1 && self.is_coalesced()));
}

// Each entry takes the gradient of the sum that it went into.
at::Tensor sum_backward(const at::Tensor& grad, const at::Tensor& self, at::IntArrayRef dims) {
  auto summed = at::dim_list_to_bitset(dims, self.dim());
  auto input = self.coalesce();
  int64_t sparse_dim = self.sparse_dim();
  std::vector<int64_t> kept, kept_sizes;
  for (int64_t dim = 0; dim < sparse_dim; ++dim) {
    if (summed[dim]) continue;
    kept.push_back(dim);
    kept_sizes.push_back(self.size(dim));
  }
  auto values = input._values();
  if (self._nnz() == 0) return make(self, input._indices().clone(), values.to(grad.scalar_type()), true);
  at::Tensor rows;  // of the gradient, one for each entry
  if (kept.empty()) {
    rows = (grad.is_sparse() ? grad.to_dense() : grad).unsqueeze(0);
  } else {
    TORCH_CHECK(grad.is_sparse(), "_sparse_sum_backward: expected grad to be sparse, but got dense");
    auto sums = grad.coalesce();
    if (sums._nnz() == 0) {
      auto sizes = sums._values().sizes().vec();
      sizes[0] = 1;
      rows = at::zeros(sizes, sums._values().options());
    } else {
      auto match = find(positions(input._indices(), self.sizes(), kept), positions(sums));
      rows = where_found(match.found, sums._values().index_select(0, match.at));
    }
  }
  for (int64_t dim = sparse_dim; dim < self.dim(); ++dim) {
    if (summed[dim]) rows = rows.unsqueeze(dim - sparse_dim + 1);
  }
  return make(self, input._indices().clone(), rows.expand(values.sizes()).contiguous(), true);
}

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) {
  m.impl("index_select", &index_select);
  m.impl("_sparse_sum_backward", &sum_backward);
}

}  // namespace
}  // namespace torchtpu::native::sparse
