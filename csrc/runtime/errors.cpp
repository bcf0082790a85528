#include "runtime/errors.h"

#include <c10/util/Exception.h>

#include "pjrt/accounting.h"
#include "runtime/device.h"

namespace torchtpu::runtime {

void raise(const pjrt::Error& error, std::string_view what, c10::DeviceIndex device) {
  if (error.code() == PJRT_Error_Code_RESOURCE_EXHAUSTED) {
    if (device < 0) device = current_device();
    auto& accounting = pjrt::accounting(static_cast<size_t>(device));
    accounting.count_oom();
    TORCH_CHECK_WITH(OutOfMemoryError, false, "tpu out of memory during ", what, ": ", error.what(), "; ",
                     accounting.bytes().current, " bytes of tpu:", static_cast<int>(device), " are in use by tensors");
  }
  TORCH_CHECK(false, "torchtpu: ", what, ": ", error.what());
}

}  // namespace torchtpu::runtime
