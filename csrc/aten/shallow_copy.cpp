#include "aten/native.h"

namespace torchtpu::native {

bool _has_compatible_shallow_copy_type(const at::Tensor& self, const at::Tensor& from) {
  auto copies = [](const at::Tensor& tensor) {
    bool here = tensor.is_cpu() || tensor.is_privateuseone();
    return here && tensor.layout() == at::kStrided && tensor.unsafeGetTensorImpl()->key_set().has(c10::DispatchKey::Dense);
  };
  auto from_keys = from.unsafeGetTensorImpl()->key_set();
  return (copies(self) && copies(from)) || self.unsafeGetTensorImpl()->has_compatible_shallow_copy_type(from_keys);
}

}  // namespace torchtpu::native
