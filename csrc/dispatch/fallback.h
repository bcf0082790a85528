// What happens to an op that has no entry: it runs on the CPU, counted (design D9).
#pragma once

#include <map>
#include <string>

namespace torchtpu::dispatch {

// Calls per overload since the start or the last reset.
std::map<std::string, int64_t> fallback_counts();
void reset_fallback_counts();

}  // namespace torchtpu::dispatch
