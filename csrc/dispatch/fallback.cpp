#include "dispatch/fallback.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/CPUFallback.h>
#include <torch/library.h>

#include <cstdlib>
#include <mutex>
#include <string_view>

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

void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  auto name = c10::toString(op.operator_name());
  std::string advice = "add it to ops.yaml: tools/regen new " + name;
  TORCH_CHECK_NOT_IMPLEMENTED(!fallback_is_error(), "torchtpu: ", name, " has no entry for the tpu device; ", advice,
                              " (TORCHTPU_FALLBACK=warn runs it on the CPU instead)");
  bool first;
  {
    std::lock_guard lock(counts().mutex);
    first = counts().calls[name]++ == 0;
  }
  if (first) TORCH_WARN("torchtpu: ", name, " runs on the CPU, since it has no entry for the tpu device; ", advice);
  at::native::cpu_fallback(op, stack, /*error_on_views=*/true);
}

}  // namespace

std::map<std::string, int64_t> fallback_counts() {
  std::lock_guard lock(counts().mutex);
  return counts().calls;
}

void reset_fallback_counts() {
  std::lock_guard lock(counts().mutex);
  counts().calls.clear();
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>()); }

}  // namespace torchtpu::dispatch
