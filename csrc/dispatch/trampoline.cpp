#include "dispatch/trampoline.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/Resize.h>

#include "cache/memory_tier.h"
#include "dispatch/call.h"
#include "dispatch/execute.h"
#include "dispatch/fallback.h"
#include "dispatch/miss.h"
#include "dispatch/names.h"

namespace torchtpu::dispatch {
namespace {

// Written arguments take the sizes that PyTorch's meta kernel gave them, with its warning when they held something.
void apply_resizes(const Call& call, const std::vector<cache::Resize>& resizes) {
  for (const auto& resize : resizes) {
    const at::Tensor& out = *call.uses[resize.use].tensor;
    at::native::resize_output(out, resize.sizes);
    out.unsafeGetTensorImpl()->set_sizes_and_strides(resize.sizes, resize.strides, out.storage_offset());
  }
}

enum class Found {
  Program,  // it serves the call as it is
  Resized,  // arguments were: the call has to be keyed anew
  Cpu,      // the call is not for the device; the program's redirect says why
};

Found find_program(Call& call, Starts& starts, const cache::Program*& program, cache::Pin& pin) {
  auto& tier = cache::MemoryTier::get();
  for (;;) {
    uint64_t hash = call.key.hash();
    program = tier.find(call.key, hash);
    bool hit = program != nullptr;
    if (!program) program = resolve_miss(call, hash);
    if (!program) continue;
    if (program->redirect) [[unlikely]] {
      const auto& redirect = *program->redirect;
      if (!redirect.cpu.empty()) return Found::Cpu;
      if (!redirect.resizes.empty()) {
        apply_resizes(call, redirect.resizes);
        return Found::Resized;
      }
      for (uint16_t use : redirect.gathers) call.choose_gather(use);
      continue;
    }
    if (!find_starts(call, *program, starts)) continue;
    pin = cache::Pin(*program->compilation);
    if (pin) {
      if (hit) tier.count_hit();
      return Found::Program;
    }
  }
}

// No kernel of autograd's counts the writes of torch._foreach_*: elsewhere these are the in-place ops that they are composed of.
void bump_versions(const Call& call) {
  if (!std::string_view(call.spec.overload).starts_with("_foreach_")) return;
  for (const Use& use : call.uses) {
    if (use.written) use.tensor->unsafeGetTensorImpl()->bump_version();
  }
}

// Runs torch's own composition of the op, if it has one.
bool run_composed(const OpSpec& spec, torch::jit::Stack* stack) {
  auto op = c10::Dispatcher::singleton().findSchema(operator_name(spec.overload));
  if (!op || !op->hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd)) return false;
  c10::Dispatcher::singleton().callBoxedForDispatchKey(*op, c10::DispatchKey::CompositeExplicitAutograd, stack);
  return true;
}

void run_here(const OpSpec& spec, torch::jit::Stack* stack) {
  size_t num_args = spec.args.size();
  auto args = torch::jit::last(*stack, num_args);
  for (Check check : spec.checks) {
    if (!check(args)) second_look(spec, args);
  }
  for (bool resized = false;; resized = true) {
    Call call(spec, args);
    call.resized = resized;
    if (!resized) {  // PyTorch looks for overlaps before it resizes an out=
      if (call.writes_in_order() && run_composed(spec, stack)) return;
      if (call.overlaps()) second_look(spec, args);
    }
    Starts starts;
    const cache::Program* program;
    cache::Pin pin;
    switch (find_program(call, starts, program, pin)) {
      case Found::Program:
        if (C10_UNLIKELY(call.writes_list())) bump_versions(call);
        return execute(call, *program, std::move(pin), starts, stack);
      case Found::Resized: continue;
      case Found::Cpu: return fall_back(spec, program->redirect->cpu, stack);
    }
  }
}

}  // namespace

void run(const OpSpec& spec, torch::jit::Stack* stack) {
  try {
    run_here(spec, stack);
  } catch (const BelongsToTheCpu&) {
    // Not every kernel of the CPU's looks at its generator, and one that draws nothing needs none.
    for (size_t i = 0; i < spec.args.size(); ++i) {
      c10::IValue& arg = torch::jit::peek(*stack, i, spec.args.size());
      TORCH_CHECK(!arg.isTensor() || arg.toTensor().numel() == 0,
                  "Expected a 'cpu' device type for generator but found 'tpu'");
      if (arg.isGenerator()) arg = c10::IValue();
    }
    auto op = c10::Dispatcher::singleton().findSchema(operator_name(spec.overload));
    c10::Dispatcher::singleton().callBoxedForDispatchKey(*op, c10::DispatchKey::CPU, stack);
  }
}

}  // namespace torchtpu::dispatch
