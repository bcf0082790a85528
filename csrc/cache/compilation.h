// The executable of a program: compiled by a pool of threads while its first caller goes on.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "pjrt/error.h"
#include "pjrt/executable.h"

namespace torchtpu::cache {

// Every method may be called from any thread.
class Compilation {
 public:
  // Begins to compile: on a thread of the pool, or, where that has none (TORCHTPU_COMPILE_THREADS=0), before it returns.
  // stablehlo: a portable artifact. options: a CompileOptionsProto.
  static std::shared_ptr<Compilation> start(std::string stablehlo, std::string options);

  // The executable, or null while there is none.
  const pjrt::Executable* ready() const { return ready_.load(std::memory_order_acquire); }
  // Blocks until it is compiled; throws pjrt::Error when that failed.
  const pjrt::Executable& wait() const;
  bool failed() const { return state_.load(std::memory_order_acquire) == State::Failed; }

  // For the pool.
  void compile();
  void abandon(const std::string& reason);

 private:
  enum class State : uint8_t { Running, Ready, Failed };

  Compilation(std::string stablehlo, std::string options)
      : stablehlo_(std::move(stablehlo)), options_(std::move(options)) {}
  void finish(State state);

  std::string stablehlo_, options_;  // until it is compiled
  std::unique_ptr<pjrt::Executable> executable_;
  std::optional<pjrt::Error> error_;
  std::atomic<const pjrt::Executable*> ready_{nullptr};
  std::atomic<State> state_{State::Running};
};

}  // namespace torchtpu::cache
