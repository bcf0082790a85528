#include "runtime/errors.h"

#include <c10/util/Exception.h>

#include "runtime/device.h"
#include "runtime/memory.h"

namespace torchtpu::runtime {

void raise(const pjrt::Error& error, std::string_view what) {
  if (error.code() == PJRT_Error_Code_RESOURCE_EXHAUSTED) {
    TORCH_CHECK_WITH(OutOfMemoryError, false, "tpu out of memory during ", what, ": ", error.what(), "; ",
                     bytes_in_use(current_device()), " bytes are in use by tensors");
  }
  TORCH_CHECK(false, "torchtpu: ", what, ": ", error.what());
}

}  // namespace torchtpu::runtime
