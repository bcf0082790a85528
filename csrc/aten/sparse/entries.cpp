#include "aten/sparse/entries.h"

#include <ATen/native/SparseTensorUtils.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <numeric>

namespace torchtpu::native::sparse {

at::Tensor positions(const at::Tensor& indices, at::IntArrayRef sizes, at::IntArrayRef dims) {
  if (dims.empty()) return at::zeros({indices.size(1)}, indices.options());
  auto flat = indices.select(0, dims[0]);
  for (int64_t dim : dims.slice(1)) flat = flat.mul(sizes[dim]).add(indices.select(0, dim));
  return flat;
}

at::Tensor positions(const at::Tensor& tensor) {
  std::vector<int64_t> dims(tensor.sparse_dim());
  std::iota(dims.begin(), dims.end(), 0);
  return positions(tensor._indices(), tensor.sizes(), dims);
}

Matches find(const at::Tensor& wanted, const at::Tensor& in) {
  auto at = at::searchsorted(in, wanted).clamp_max(in.size(0) - 1);
  return {at, in.index_select(0, at).eq(wanted)};
}

at::Tensor make(const at::Tensor& like, const at::Tensor& indices, const at::Tensor& values, bool coalesced) {
  return at::_sparse_coo_tensor_unsafe(indices, values, like.sizes(), like.options().dtype(values.scalar_type()), coalesced);
}

void become(const at::Tensor& out, const at::Tensor& result) {
  auto* impl = at::sparse::get_sparse_impl(out);
  impl->raw_resize_(result.sparse_dim(), result.dense_dim(), result.sizes());
  impl->set_indices_and_values_unsafe(result._indices(), result._values().to(out.scalar_type()));
  impl->set_coalesced(result.is_coalesced());
}

c10::List<std::optional<at::Tensor>> subscripts(const at::Tensor& indices) {
  c10::List<std::optional<at::Tensor>> list;
  for (const at::Tensor& index : indices.unbind(0)) list.push_back(index);
  return list;
}

at::Tensor where_found(const at::Tensor& found, const at::Tensor& values) {
  std::vector<int64_t> sizes(values.dim(), 1);
  sizes[0] = found.size(0);
  return at::where(found.reshape(sizes), values, at::zeros({}, values.options()));
}

}  // namespace torchtpu::native::sparse
