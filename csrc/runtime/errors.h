// PJRT errors as PyTorch errors: out of memory becomes torch.OutOfMemoryError, everything else RuntimeError.
#pragma once

#include <c10/core/Device.h>

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
  // Somebody knows of it without having been thrown it.
  void tell() { reported_.store(true, std::memory_order_relaxed); }
  // Whether it has been thrown at somebody.
  bool reported() const { return reported_.load(std::memory_order_relaxed); }

 private:
  const std::string reason_;
  const bool out_of_memory_;
  std::atomic<bool> reported_{false};
};
using FailureRef = std::shared_ptr<Failure>;

// The failure that `error` is, which happened on `device` (-1: the current one) while doing `what`.
FailureRef failure(const pjrt::Error& error, std::string_view what, c10::DeviceIndex device = -1);

// Throws the PyTorch error for `error`, which happened on `device` (-1: the current one) while doing `what`.
[[noreturn]] void raise(const pjrt::Error& error, std::string_view what, c10::DeviceIndex device = -1);

template <class F>
auto guarded(std::string_view what, c10::DeviceIndex device, F&& body) {
  try {
    return body();
  } catch (const pjrt::Error& error) {
    raise(error, what, device);
  }
}

template <class F>
auto guarded(std::string_view what, F&& body) {
  return guarded(what, -1, std::forward<F>(body));
}

}  // namespace torchtpu::runtime
