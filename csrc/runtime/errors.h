// PJRT errors as PyTorch errors: out of memory becomes torch.OutOfMemoryError, everything else RuntimeError.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "pjrt/error.h"

namespace torchtpu::runtime {

// An error that is thrown later: by every use of a value that is missing, and once where only an update is.
class Failure {
 public:
  explicit Failure(std::string reason, bool out_of_memory = false)
      : reason_(std::move(reason)), out_of_memory_(out_of_memory) {}

  [[noreturn]] void raise();
  // Whether it has been thrown at somebody.
  bool reported() const { return reported_.load(std::memory_order_relaxed); }

 private:
  const std::string reason_;
  const bool out_of_memory_;
  std::atomic<bool> reported_{false};
};
using FailureRef = std::shared_ptr<Failure>;

// The failure that `error` is, which happened while doing `what`.
FailureRef failure(const pjrt::Error& error, std::string_view what);

// Throws the PyTorch error for `error`, which happened while doing `what`.
[[noreturn]] void raise(const pjrt::Error& error, std::string_view what);

template <class F>
auto guarded(std::string_view what, F&& body) {
  try {
    return body();
  } catch (const pjrt::Error& error) {
    raise(error, what);
  }
}

}  // namespace torchtpu::runtime
