// PJRT errors as PyTorch errors: out of memory becomes torch.OutOfMemoryError, everything else RuntimeError.
#pragma once

#include <string>
#include <string_view>

#include "pjrt/error.h"

namespace torchtpu::runtime {

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
