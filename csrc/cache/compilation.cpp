#include "cache/compilation.h"

#include <chrono>

#include "cache/compile_pool.h"
#include "cache/memory_tier.h"
#include "pjrt/client.h"

namespace torchtpu::cache {

std::shared_ptr<Compilation> Compilation::start(std::string stablehlo, std::string options) {
  std::shared_ptr<Compilation> compilation(new Compilation(std::move(stablehlo), std::move(options)));
  if (!CompilePool::get().submit(compilation)) compilation->compile();
  return compilation;
}

void Compilation::compile() {
  const auto start = std::chrono::steady_clock::now();
  try {
    executable_ = pjrt::Client::get().compile(stablehlo_, options_);
  } catch (const pjrt::Error& error) {
    error_ = error;
  } catch (const std::exception& error) {  // of memory, say: a thread of the pool has nobody to throw it at
    error_.emplace(PJRT_Error_Code_INTERNAL, error.what());
  }
  MemoryTier::get().count_compilation(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  finish(executable_ ? State::Ready : State::Failed);
}

void Compilation::abandon(const std::string& reason) {
  error_.emplace(PJRT_Error_Code_CANCELLED, reason);
  finish(State::Failed);
}

void Compilation::finish(State state) {
  stablehlo_ = options_ = {};
  ready_.store(executable_.get(), std::memory_order_release);
  state_.store(state, std::memory_order_release);
  state_.notify_all();
}

bool Compilation::unload() {
  if (state_.load(std::memory_order_acquire) != State::Ready) return false;
  int32_t pins = 0;
  if (!pins_.compare_exchange_strong(pins, kUnloaded, std::memory_order_acq_rel)) return false;
  state_.store(State::Unloaded, std::memory_order_release);
  ready_.store(nullptr, std::memory_order_release);
  executable_.reset();
  return true;
}

const pjrt::Executable& Compilation::wait() const {
  state_.wait(State::Running, std::memory_order_acquire);
  if (error_) throw *error_;
  return *executable_;
}

}  // namespace torchtpu::cache
