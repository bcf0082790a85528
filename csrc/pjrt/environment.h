// Settings that are environment variables.
#pragma once

#include <cstdint>

namespace torchtpu::pjrt {

// The whole number that the variable `name` holds, or `otherwise` if it is unset or empty. Throws std::invalid_argument, which says
// what it can be, when it is no number from `least` to `most`.
int64_t environment_number(const char* name, int64_t otherwise, int64_t least, int64_t most);

}  // namespace torchtpu::pjrt
