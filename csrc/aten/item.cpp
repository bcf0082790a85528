#include <ATen/Dispatch_v2.h>
#include <ATen/ops/empty.h>

#include <cstring>

#include "aten/native.h"
#include "pjrt/client.h"
#include "runtime/errors.h"
#include "runtime/storage.h"

namespace torchtpu::native {
namespace {

at::Scalar scalar_at(const void* address, at::ScalarType dtype) {
  at::Scalar scalar;
  AT_DISPATCH_V2(dtype, "item", AT_WRAP([&] {
                   scalar_t value;
                   std::memcpy(&value, address, sizeof(value));
                   scalar = value;
                 }),
                 AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES),
                 AT_EXPAND(AT_FLOAT8_TYPES), at::kComplexHalf, at::kHalf, at::kBFloat16, at::kBool);
  return scalar;
}

}  // namespace

at::Scalar _local_scalar_dense(const at::Tensor& self) {
  auto& handle = runtime::buffer_of(self);
  const auto& base = handle.base();
  if (pjrt::Client::get().host_can_read() && base.dtype == self.scalar_type() && !self.is_conj() && !self.is_neg()) {
    // Row-major host memory: the element is where its offset says.
    auto buffer = handle.load();
    return runtime::guarded("item", [&] {
      buffer->await();
      const auto* data = static_cast<const char*>(buffer->device_pointer());
      return scalar_at(data + self.storage_offset() * self.itemsize(), base.dtype);
    });
  }
  auto host = at::empty({}, at::TensorOptions().dtype(self.scalar_type()).device(at::kCPU));
  _copy_from(self.reshape({}), host, false);
  return scalar_at(host.const_data_ptr(), self.scalar_type());
}

}  // namespace torchtpu::native
