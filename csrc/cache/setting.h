// Settings of the cache that are environment variables.
#pragma once

#include <c10/util/Exception.h>

#include <stdexcept>

#include "pjrt/environment.h"

namespace torchtpu::cache {

// As pjrt::environment_number, which knows no exceptions of PyTorch's; throws Python's ValueError.
inline int64_t setting(const char* name, int64_t otherwise, int64_t least, int64_t most) {
  try {
    return pjrt::environment_number(name, otherwise, least, most);
  } catch (const std::invalid_argument& error) {
    TORCH_CHECK_VALUE(false, error.what());
  }
}

}  // namespace torchtpu::cache
