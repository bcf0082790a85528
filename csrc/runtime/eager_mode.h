// How eager calls end: "strict" ones when they are issued, "debug" ones when they have happened, so that what fails is the call itself.
#pragma once

#include <atomic>

namespace torchtpu::runtime {

// From TORCHTPU_EAGER until it is set.
inline std::atomic<bool> waits_for_each_op{false};

}  // namespace torchtpu::runtime
