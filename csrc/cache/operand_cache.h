// Operand buffers that are already on the device, by content: `x * 0.5` in a loop uploads its 0.5 once.
#pragma once

#include <c10/core/Device.h>
#include <c10/util/SmallVector.h>

#include "pjrt/buffer.h"

namespace torchtpu::cache {

using Words = c10::SmallVector<uint32_t, 24>;

// A device buffer of u32[words.size()] with these values, from the cache or uploaded. Thread-safe.
pjrt::BufferRef operand_buffer(const Words& words, c10::DeviceIndex device);
// The same, for values that will not come again (seeds).
pjrt::BufferRef upload_words(const Words& words, c10::DeviceIndex device);

}  // namespace torchtpu::cache
