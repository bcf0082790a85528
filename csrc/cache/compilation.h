// The executable of a program: compiled by a pool of threads while its first caller goes on, and unloaded when there is no room.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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
  // Whether there will be no executable any more: it could not be compiled, or was unloaded.
  bool gone() const { return state_.load(std::memory_order_acquire) >= State::Failed; }
  // Destroys the executable, unless it is pinned or being compiled. True if it did.
  bool unload();

  // For the pool.
  void compile();
  void abandon(const std::string& reason);

 private:
  friend class Pin;

  enum class State : uint8_t { Running, Ready, Failed, Unloaded };
  static constexpr int32_t kUnloaded = INT32_MIN / 2;  // far below zero, so that counting does not change what it says

  Compilation(std::string stablehlo, std::string options)
      : stablehlo_(std::move(stablehlo)), options_(std::move(options)) {}
  void finish(State state);

  std::string stablehlo_, options_;  // until it is compiled
  std::unique_ptr<pjrt::Executable> executable_;
  std::optional<pjrt::Error> error_;
  std::atomic<const pjrt::Executable*> ready_{nullptr};
  std::atomic<State> state_{State::Running};
  std::atomic<int32_t> pins_{0};
};

// Keeps an executable from being unloaded, once or before it is compiled. False if it has been unloaded already.
class Pin {
 public:
  Pin() = default;
  explicit Pin(Compilation& compilation) {
    if (compilation.pins_.fetch_add(1, std::memory_order_acquire) >= 0) {
      compilation_ = &compilation;
    } else {
      compilation.pins_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  Pin(Pin&& other) noexcept : compilation_(std::exchange(other.compilation_, nullptr)) {}
  Pin& operator=(Pin&& other) noexcept {
    std::swap(compilation_, other.compilation_);
    return *this;
  }
  ~Pin() {
    if (compilation_) compilation_->pins_.fetch_sub(1, std::memory_order_release);
  }
  explicit operator bool() const { return compilation_; }

 private:
  Compilation* compilation_ = nullptr;
};

}  // namespace torchtpu::cache
