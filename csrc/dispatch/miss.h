// The door to the miss path, which is Python: what a call that no program serves tells it, and what it answers.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cache/program.h"
#include "dispatch/call.h"

namespace torchtpu::dispatch {

struct MissRequest {
  const Call& call;
  // Per use; empty for one that is whole or read by gather.
  c10::SmallVector<std::optional<views::Plan>, 6> plans;
};

struct MissReply {
  cache::Program program;  // all but the compilation and the views
  std::string stablehlo;   // portable artifact
  std::string options;     // CompileOptionsProto
};

struct MissHandlers {
  // Traces and lowers; throws what the user is to see.
  std::function<MissReply(const MissRequest&)> trace;
  // Runs `body`, which may block, without the GIL if the thread holds it.
  std::function<void(const std::function<void()>& body)> without_gil;
  // Bad values were found in the arguments: runs the call on CPU copies, which throws PyTorch's own error.
  std::function<void(const OpSpec&, c10::ArrayRef<c10::IValue> args)> second_look;
};
void set_miss_handlers(MissHandlers handlers);

// Makes the program of a call that is in no cache, and remembers it. Null when the call should be looked up again: another thread
// has made the program meanwhile, or a view of the call is to be read in another way.
const cache::Program* resolve_miss(Call& call, uint64_t hash);
// Runs a call that looks wrong on the CPU: throws PyTorch's own error, or returns when PyTorch accepts the arguments.
void second_look(const OpSpec& spec, c10::ArrayRef<c10::IValue> args);

}  // namespace torchtpu::dispatch
