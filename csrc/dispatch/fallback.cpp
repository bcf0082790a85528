#include "dispatch/fallback.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/CPUFallback.h>
#include <torch/library.h>

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "dispatch/miss.h"
#include "dispatch/names.h"

namespace torchtpu::dispatch {
namespace {

struct Counts {
  std::mutex mutex;
  std::map<std::string, int64_t> calls;
};

Counts& counts() {
  static auto* instance = new Counts;
  return *instance;
}

// TORCHTPU_FALLBACK: warn (once per op; the default) or error.
bool fallback_is_error() {
  const char* value = std::getenv("TORCHTPU_FALLBACK");
  std::string_view mode = value ? value : "warn";
  TORCH_CHECK(mode == "warn" || mode == "error", "TORCHTPU_FALLBACK is '", mode, "'; it can be 'warn' or 'error'");
  return mode == "error";
}

std::optional<c10::Device> device_of(c10::ArrayRef<c10::IValue> args) {
  for (const c10::IValue& arg : args) {
    if (arg.isTensor() && arg.toTensor().is_privateuseone()) return arg.toTensor().device();
  }
  return std::nullopt;
}

// cpu_fallback leaves new results where the first tensor is, which can be a number: the 1 of `1 - x`.
void move_results(const c10::FunctionSchema& schema, c10::Device device, torch::jit::Stack& stack) {
  auto result = stack.end() - static_cast<std::ptrdiff_t>(schema.returns().size());
  for (const c10::Argument& returned : schema.returns()) {
    bool is_new = result->isTensor() && !returned.alias_info();
    if (is_new && result->toTensor().is_cpu()) *result = result->toTensor().to(device);
    ++result;
  }
}

constexpr const char* kInstead = " (TORCHTPU_FALLBACK=warn runs it on the CPU instead)";

// The first call of an op warns.
void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack, const std::string& why,
                c10::DispatchKey key = c10::DispatchKey::CPU) {
  auto name = c10::toString(op.operator_name());
  bool first;
  {
    std::lock_guard lock(counts().mutex);
    first = counts().calls[name]++ == 0;
  }
  if (first) TORCH_WARN("torchtpu: ", name, " runs on the CPU, since ", why);
  auto device = device_of(torch::jit::last(*stack, op.schema().arguments().size()));
  at::native::cpu_fallback(op, stack, /*error_on_views=*/true, key);
  if (device) move_results(op.schema(), *device, *stack);
}

void run_without_entry(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  auto name = c10::toString(op.operator_name());
  std::string why = "it has no entry for the tpu device; add it to ops.yaml: tools/regen new " + name;
  TORCH_CHECK_NOT_IMPLEMENTED(!fallback_is_error(), "torchtpu: ", name, ": ", why, kInstead);
  run_on_cpu(op, stack, why);
}

// PyTorch's kernels for nested tensors work on the tensor of values inside, on whatever device it is; those that it has registered
// for HPU know of none. Without a fallback there would be no kernel for _nested_tensor_size, whose error autograd cannot survive.
void run_nested(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  constexpr auto kGeneric = c10::DispatchKey::NestedTensorHPU;
  TORCH_CHECK_NOT_IMPLEMENTED(op.hasKernelForDispatchKey(kGeneric), "torchtpu: ", op.operator_name(),
                              " of nested tensors: PyTorch has no kernel that devices share; layout=torch.jagged has more");
  c10::Dispatcher::singleton().callBoxedForDispatchKey(op, kGeneric, stack);
}

// What csrc/aten/sparse/ does not have.
void run_sparse(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& name = op.operator_name();
  bool on_cpu = op.hasKernelForDispatchKey(c10::DispatchKey::SparseCPU);
  TORCH_CHECK_NOT_IMPLEMENTED(on_cpu && !fallback_is_error(), "torchtpu: ", name,
                              ": no kernel for sparse tensors on tpu; call .to_dense()", on_cpu ? kInstead : "");
  run_on_cpu(op, stack, "it has no kernel for sparse tensors on tpu", c10::DispatchKey::SparseCPU);
}

// CSR, CSC, BSR and BSC.
void refuse_compressed(const c10::OperatorHandle& op, torch::jit::Stack*) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "torchtpu: ", op.operator_name(),
                              ": the tpu device has no compressed sparse tensors (torch.sparse_csr and its like); "
                              "layout=torch.sparse_coo is supported");
}

}  // namespace

void fall_back(const OpSpec& spec, const std::string& why, torch::jit::Stack* stack) {
  auto name = operator_name(spec.overload);
  auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name.name.c_str(), name.overload_name.c_str());
  bool on_cpu = op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU);
  if (!on_cpu || fallback_is_error()) {
    if (on_cpu) second_look(spec, torch::jit::last(*stack, spec.args.size()));
    TORCH_CHECK_NOT_IMPLEMENTED(false, "torchtpu: ", name, ": ", why,
                                on_cpu ? kInstead : " (and the CPU has no kernel for the op)");
  }
  run_on_cpu(op, stack, why);
}

std::map<std::string, int64_t> fallback_counts() {
  std::lock_guard lock(counts().mutex);
  return counts().calls;
}

void reset_fallback_counts() {
  std::lock_guard lock(counts().mutex);
  counts().calls.clear();
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_without_entry>()); }

TORCH_LIBRARY_IMPL(_, SparsePrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_sparse>()); }

TORCH_LIBRARY_IMPL(_, SparseCsrPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_compressed>());
}

// What makes compressed tensors from others.
void refuse_compressing(torch::Library& library) {
  for (const char* op : {"_to_sparse_csr", "_to_sparse_csc", "_to_sparse_bsr", "_to_sparse_bsc"}) {
    library.impl(op, torch::CppFunction::makeFromBoxedFunction<&refuse_compressed>());
  }
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { refuse_compressing(m); }
TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) { refuse_compressing(m); }

TORCH_LIBRARY_IMPL(_, NestedTensorPrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_nested>()); }

}  // namespace torchtpu::dispatch
