// Coalescing: entries in order, one for each position. How many there are is read, which waits; all programs are made for the
// number of entries before, so that it does not matter for them.
#include <ATen/ops/cumsum.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include "aten/sparse/entries.h"

namespace torchtpu::native::sparse {
namespace {

// The sum of each group of values; sums of bool are true if any of them is.
at::Tensor grouped(const at::Tensor& values, const at::Tensor& group) {
  if (values.scalar_type() == at::kBool) return grouped(values.to(at::kInt), group).ne(0);
  return at::zeros_like(values, at::MemoryFormat::Contiguous).index_add_(0, group, values);
}

at::Tensor coalesce(const at::Tensor& self) {
  auto indices = self._indices(), values = self._values();
  int64_t entries = self._nnz();
  if (entries < 2) return make(self, indices.clone(), values.clone(), true);
  auto [sorted, order] = at::sort(positions(self), /*stable=*/true, 0, /*descending=*/false);
  auto starts = sorted.narrow(0, 1, entries - 1).ne(sorted.narrow(0, 0, entries - 1));
  auto group = at::zeros_like(sorted);
  group.narrow(0, 1, entries - 1).copy_(at::cumsum(starts, 0));
  int64_t count = group[entries - 1].item<int64_t>() + 1;
  // All entries of a group write the same.
  auto places = at::empty_like(indices, at::MemoryFormat::Contiguous).index_copy_(1, group, indices.index_select(1, order));
  auto sums = grouped(values.index_select(0, order), group);
  if (count < entries) {
    places = places.narrow(1, 0, count).contiguous();
    sums = sums.narrow(0, 0, count).contiguous();
  }
  return make(self, places, sums, true);
}

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) { m.impl("_coalesce", &coalesce); }

}  // namespace
}  // namespace torchtpu::native::sparse
