#include "runtime/errors.h"

#include <c10/util/Exception.h>

#include "pjrt/accounting.h"
#include "runtime/device.h"

namespace torchtpu::runtime {

void Failure::raise() {
  reported_.store(true, std::memory_order_relaxed);
  TORCH_CHECK_WITH(OutOfMemoryError, !out_of_memory_, reason_);
  TORCH_CHECK(false, reason_);
}

FailureRef failure(const pjrt::Error& error, std::string_view what, c10::DeviceIndex device) {
  if (error.code() == PJRT_Error_Code_RESOURCE_EXHAUSTED) {
    if (device < 0) device = current_device();
    auto& accounting = pjrt::accounting(static_cast<size_t>(device));
    accounting.count_oom();
    return std::make_shared<Failure>(c10::str("tpu out of memory during ", what, ": ", error.what(), "; ",
                                              accounting.bytes().current, " bytes of tpu:", static_cast<int>(device),
                                              " are in use by tensors"),
                                     /*out_of_memory=*/true);
  }
  return std::make_shared<Failure>(c10::str("torchtpu: ", what, ": ", error.what()));
}

void raise(const pjrt::Error& error, std::string_view what, c10::DeviceIndex device) {
  failure(error, what, device)->raise();
}

}  // namespace torchtpu::runtime
