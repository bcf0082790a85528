// PyTorch dtypes as PJRT element types, and host memory as device buffers.
#pragma once

#include <c10/core/ScalarType.h>

#include <memory>
#include <optional>

#include "pjrt/buffer.h"
#include "runtime/device_buffer.h"

namespace torchtpu::runtime {

// None for dtypes that the device does not have (quantized, bits). A complex32 is a word (torchtpu/miss/views.py).
std::optional<PJRT_Buffer_Type> find_element_type(c10::ScalarType dtype);
// The same, but throws.
PJRT_Buffer_Type element_type(c10::ScalarType dtype);

// Copies row-major host memory of the shape and dtype of `base` to the device; throws OutOfMemoryError with the size.
pjrt::BufferRef upload(const void* data, const Base& base, c10::DeviceIndex device);
// The same for memory that nobody will write again; without a copy where the platform can use it. `owner` keeps it.
pjrt::BufferRef upload_for_good(std::shared_ptr<const void> owner, const void* data, const Base& base,
                                c10::DeviceIndex device);

}  // namespace torchtpu::runtime
