#include "aten/native.h"
#include "runtime/allocator.h"

namespace torchtpu::native {

void record_stream(at::Tensor& self, at::Stream s) {
  TORCH_CHECK(s.device() == self.device(), "record_stream: the tensor is on ", self.device(), ", the stream on ",
              s.device());
  runtime::allocator()->recordStream(self.storage().data_ptr(), s);
}

}  // namespace torchtpu::native
