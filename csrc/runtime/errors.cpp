#include "runtime/errors.h"

#include <c10/util/Exception.h>

#include "runtime/device.h"
#include "runtime/memory.h"

namespace torchtpu::runtime {

void Failure::raise() {
  reported_.store(true, std::memory_order_relaxed);
  TORCH_CHECK_WITH(OutOfMemoryError, !out_of_memory_, reason_);
  TORCH_CHECK(false, reason_);
}

FailureRef failure(const pjrt::Error& error, std::string_view what) {
  if (error.code() == PJRT_Error_Code_RESOURCE_EXHAUSTED) {
    return std::make_shared<Failure>(c10::str("tpu out of memory during ", what, ": ", error.what(), "; ",
                                              bytes_in_use(current_device()), " bytes are in use by tensors"),
                                     /*out_of_memory=*/true);
  }
  return std::make_shared<Failure>(c10::str("torchtpu: ", what, ": ", error.what()));
}

void raise(const pjrt::Error& error, std::string_view what) { failure(error, what)->raise(); }

}  // namespace torchtpu::runtime
