#include "dispatch/miss.h"

#include <ATen/MemoryOverlap.h>

#include "cache/memory_tier.h"
#include "dispatch/single_flight.h"
#include "runtime/errors.h"

namespace torchtpu::dispatch {
namespace {

MissHandlers& handlers() {
  static auto* instance = new MissHandlers;
  return *instance;
}

bool is_wide(const Use& use) { return use.buffer->base().numel() > INT32_MAX; }

c10::SmallVector<int64_t, 5> base_sizes(const Use& use) {
  const auto& base = use.buffer->base();
  return views::base_sizes_in(base.sizes, c10::elementSize(base.dtype), use.tensor->itemsize());
}

// A gather has one start: the offset itself.
views::Plan gather_plan() {
  views::Plan plan;
  plan.kind = views::Plan::Kind::Gather;
  return plan;
}

}  // namespace

void set_miss_handlers(MissHandlers new_handlers) { handlers() = std::move(new_handlers); }

const cache::Program* resolve_miss(Call& call, uint64_t hash) {
  TORCH_CHECK(handlers().trace, "torchtpu: the miss path is not set up; import torch loads it");
  SingleFlight flight(call.key, handlers().without_gil);
  if (!flight.is_first()) return nullptr;
  auto& tier = cache::MemoryTier::get();
  MissRequest request{call, {}};
  cache::Redirect redirect;
  for (size_t i = 0; i < call.uses.size(); ++i) {
    const Use& use = call.uses[i];
    std::optional<views::Plan> plan;
    if (!use.whole && !use.gather && use.tensor->numel() > 0) {
      // Slices cannot write an element twice; a scatter can, where PyTorch lets it.
      bool written_twice = use.written && at::has_internal_overlap(*use.tensor) == at::MemOverlap::Yes;
      if (!written_twice) plan = views::solve(base_sizes(use), use.tensor->sizes(), use.tensor->strides());
      c10::SmallVector<int64_t, 8> starts;
      if (!plan) {
        redirect.gathers.push_back(static_cast<uint16_t>(i));
      } else if (!plan->starts(use.tensor->storage_offset(), starts)) {
        // The plan fits at other offsets, so that the key without the gather stays free for them.
        call.choose_gather(i);
        return nullptr;
      }
    }
    request.plans.push_back(std::move(plan));
  }
  if (!redirect.gathers.empty()) {
    cache::Program program;
    program.redirect = std::make_unique<cache::Redirect>(std::move(redirect));
    return tier.insert(call.key, hash, std::move(program));
  }

  MissReply reply = handlers().trace(request);
  if (!reply.program.redirect) {
    reply.program.compilation = cache::Compilation::start(std::move(reply.stablehlo), std::move(reply.options));
    if (reply.program.compilation->gone()) runtime::guarded(call.spec.overload, [&] { reply.program.compilation->wait(); });
    for (size_t i = 0; i < call.uses.size(); ++i) {
      const Use& use = call.uses[i];
      if (use.gather && use.tensor->numel() > 0) request.plans[i] = gather_plan();
      if (request.plans[i]) {
        reply.program.views.push_back({static_cast<uint16_t>(i), std::move(*request.plans[i]), is_wide(use)});
      }
    }
    tier.count_miss();
  }
  return tier.insert(call.key, hash, std::move(reply.program));
}

void second_look(const OpSpec& spec, c10::ArrayRef<c10::IValue> args) { handlers().second_look(spec, args); }

}  // namespace torchtpu::dispatch
