// PJRT errors as PyTorch errors: out of memory becomes torch.OutOfMemoryError, everything else RuntimeError.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <string_view>

#include "pjrt/error.h"

namespace torchtpu::runtime {

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
