#include "dispatch/indices.h"

#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/native/IndexingUtils.h>
#include <ATen/native/TensorAdvancedIndexingUtils.h>
#include <ATen/ops/where.h>

namespace torchtpu::dispatch {
namespace {

using Indices = c10::List<std::optional<at::Tensor>>;

// TorchScript makes lists of other types: of Tensor, of None, or one that does not know its type.
Indices indices_of(const c10::IValue& list) {
  if (list.isOptionalTensorList()) return list.toOptionalTensorList();
  Indices indices;
  for (const c10::IValue& index : list.toListRef()) {
    indices.push_back(index.isNone() ? std::nullopt : std::optional(index.toTensor()));
  }
  return indices;
}

// A boolean mask that is the only index: `before` dimensions of self stand in front of those that it covers, `after` behind.
struct Selection {
  at::Tensor mask;
  int64_t before, after;
};

std::optional<Selection> only_mask(const at::Tensor& self, const Indices& indices) {
  std::optional<Selection> found;
  for (size_t i = 0; i < indices.size(); ++i) {
    std::optional<at::Tensor> index = indices[i];
    if (!index || !index->defined()) continue;
    auto before = static_cast<int64_t>(i), after = self.dim() - before - index->dim();
    if (found || index->scalar_type() != at::kBool || after < 0) return std::nullopt;
    if (index->sizes() != self.sizes().slice(before, index->dim())) return std::nullopt;
    found = Selection{*index, before, after};
  }
  return found;
}

at::Tensor broadcastable(const Selection& selection) {
  auto sizes = selection.mask.sizes().vec();
  sizes.resize(sizes.size() + selection.after, 1);
  return selection.mask.reshape(sizes);
}

// What `self[selection] = value` writes at each true element, as a tensor that broadcasts to self. Nothing, if that depends on how
// many there are, or if PyTorch may refuse it.
std::optional<at::Tensor> spread(const Selection& selection, const at::Tensor& self, const at::Tensor& value) {
  if (value.device() != self.device() || at::has_internal_overlap(self) != at::MemOverlap::No) return std::nullopt;
  if (value.numel() == 1) return value.reshape({});  // of any dtype, as ATen's masked_fill of such a number
  if (value.scalar_type() != self.scalar_type()) return std::nullopt;
  if (at::get_overlap_status(self, value) != at::MemOverlapStatus::No) return std::nullopt;
  auto sizes = value.sizes().vec();
  if (int64_t count = value.dim() - selection.after - 1; count >= 0) {  // the dimension of the true elements
    if (sizes[count] != 1) return std::nullopt;
    sizes.erase(sizes.begin() + count);
    sizes.insert(sizes.begin() + count, selection.mask.dim(), 1);
  }
  if (!at::is_expandable_to(sizes, self.sizes())) return std::nullopt;
  return value.reshape(sizes);
}

}  // namespace

void prepare_indices(torch::jit::Stack& stack, size_t num_args) {
  auto& self = torch::jit::peek(stack, 0, num_args).toTensor();
  auto& slot = torch::jit::peek(stack, 1, num_args);
  auto indices = indices_of(slot);
  at::native::checkIndexTensorTypes(indices, /*allow_int=*/true);
  TORCH_CHECK_INDEX(static_cast<int64_t>(indices.size()) <= self.dim(), "too many indices for tensor of dimension ",
                    self.dim(), " (got ", indices.size(), ")");
  for (const std::optional<at::Tensor>& index : indices) {
    if (!index || !index->defined() || index->is_cpu()) continue;
    TORCH_CHECK(index->device() == self.device(),
                "indices should be either on cpu or on the same device as the indexed tensor (", self.device(), ")");
  }
  auto expanded = at::native::expandTensors(self, indices, /*ensure_same_device=*/true);
  Indices result;
  result.reserve(expanded.size());
  for (auto& index : expanded) result.push_back(index.defined() ? std::optional(std::move(index)) : std::nullopt);
  slot = std::move(result);
}

bool put_by_mask(torch::jit::Stack& stack, size_t num_args, bool in_place) {
  if (torch::jit::peek(stack, 3, num_args).toBool()) return false;  // accumulate
  auto self = torch::jit::peek(stack, 0, num_args).toTensor();
  auto indices = indices_of(torch::jit::peek(stack, 1, num_args));
  const auto& value = torch::jit::peek(stack, 2, num_args).toTensor();
  if (auto [possible, mask] = at::native::canDispatchToMaskedFill(self, indices, value); possible) {
    if (!in_place) self = self.clone();
    self.masked_fill_(mask, value.item());
  } else {
    auto selection = only_mask(self, indices);
    auto values = selection ? spread(*selection, self, value) : std::nullopt;
    if (!values) return false;
    if (!in_place) self = self.clone();
    auto chosen = broadcastable(*selection).to(self.device());
    if (values->dim() == 0) {
      self.masked_fill_(chosen, *values);
    } else {
      self.copy_(at::where(chosen, *values, self));
    }
  }
  torch::jit::drop(stack, num_args);
  stack.emplace_back(std::move(self));
  return true;
}

}  // namespace torchtpu::dispatch
