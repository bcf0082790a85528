#include "dispatch/indices.h"

#include <ATen/native/IndexingUtils.h>
#include <ATen/native/TensorAdvancedIndexingUtils.h>

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

bool run_as_masked_fill(torch::jit::Stack& stack, size_t num_args) {
  auto self = torch::jit::peek(stack, 0, num_args).toTensor();
  auto indices = indices_of(torch::jit::peek(stack, 1, num_args));
  auto& value = torch::jit::peek(stack, 2, num_args).toTensor();
  bool accumulate = torch::jit::peek(stack, 3, num_args).toBool();
  if (accumulate) return false;
  auto [possible, mask] = at::native::canDispatchToMaskedFill(self, indices, value);
  if (!possible) return false;
  self.masked_fill_(mask, value.item());
  torch::jit::drop(stack, num_args);
  stack.emplace_back(std::move(self));
  return true;
}

}  // namespace torchtpu::dispatch
