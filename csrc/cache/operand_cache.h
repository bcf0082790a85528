// Operand buffers that are already on the device, by content: `x * 0.5` in a loop uploads its 0.5 once.
#pragma once

#include <c10/core/Device.h>
#include <c10/util/SmallVector.h>

#include "pjrt/buffer.h"
#include "runtime/spin_lock.h"

namespace torchtpu::cache {

using Words = c10::SmallVector<uint32_t, 24>;

// What a program was last called with: in a loop it is what it will be called with again. Thread-safe.
class LastOperands {
 public:
  pjrt::BufferRef find(const Words& words, c10::DeviceIndex device);
  void remember(const Words& words, c10::DeviceIndex device, pjrt::BufferRef buffer);

 private:
  runtime::SpinLock lock_;
  Words words_;
  c10::DeviceIndex device_ = -1;
  pjrt::BufferRef buffer_;
};

// A device buffer of u32[words.size()] with these values: from `last`, from the cache, or uploaded. Thread-safe.
pjrt::BufferRef operand_buffer(const Words& words, c10::DeviceIndex device, LastOperands& last);
// The same, for values that will not come again (seeds).
pjrt::BufferRef upload_words(const Words& words, c10::DeviceIndex device);

}  // namespace torchtpu::cache
