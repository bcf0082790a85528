// Whether programs look for indices out of range and divisions by zero, which then raise as on the CPU.
#pragma once

#include <atomic>

namespace torchtpu::runtime {

// Programs that look and those that do not are different ones: this is part of every key.
inline std::atomic<bool> checks_values{true};

}  // namespace torchtpu::runtime
