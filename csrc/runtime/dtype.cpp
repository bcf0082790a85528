#include "runtime/dtype.h"

#include <c10/util/Exception.h>

#include "pjrt/client.h"
#include "runtime/errors.h"

namespace torchtpu::runtime {

std::optional<PJRT_Buffer_Type> find_element_type(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::ScalarType::Bool: return PJRT_Buffer_Type_PRED;
    case c10::ScalarType::Char: return PJRT_Buffer_Type_S8;
    case c10::ScalarType::Short: return PJRT_Buffer_Type_S16;
    case c10::ScalarType::Int: return PJRT_Buffer_Type_S32;
    case c10::ScalarType::Long: return PJRT_Buffer_Type_S64;
    case c10::ScalarType::Byte: return PJRT_Buffer_Type_U8;
    case c10::ScalarType::UInt16: return PJRT_Buffer_Type_U16;
    case c10::ScalarType::UInt32: return PJRT_Buffer_Type_U32;
    case c10::ScalarType::UInt64: return PJRT_Buffer_Type_U64;
    case c10::ScalarType::Half: return PJRT_Buffer_Type_F16;
    case c10::ScalarType::BFloat16: return PJRT_Buffer_Type_BF16;
    case c10::ScalarType::Float: return PJRT_Buffer_Type_F32;
    case c10::ScalarType::Double: return PJRT_Buffer_Type_F64;
    case c10::ScalarType::ComplexHalf: return PJRT_Buffer_Type_U32;  // its bytes: XLA has no such type
    case c10::ScalarType::ComplexFloat: return PJRT_Buffer_Type_C64;
    case c10::ScalarType::ComplexDouble: return PJRT_Buffer_Type_C128;
    case c10::ScalarType::Float8_e5m2: return PJRT_Buffer_Type_F8E5M2;
    case c10::ScalarType::Float8_e4m3fn: return PJRT_Buffer_Type_F8E4M3FN;
    case c10::ScalarType::Float8_e5m2fnuz: return PJRT_Buffer_Type_F8E5M2FNUZ;
    case c10::ScalarType::Float8_e4m3fnuz: return PJRT_Buffer_Type_F8E4M3FNUZ;
    default: return std::nullopt;
  }
}

PJRT_Buffer_Type element_type(c10::ScalarType dtype) {
  auto type = find_element_type(dtype);
  TORCH_CHECK_NOT_IMPLEMENTED(type, "torchtpu: a tpu tensor cannot have dtype ", dtype);
  return *type;
}

namespace {

size_t size_in_bytes(const Base& base) { return static_cast<size_t>(base.numel()) * c10::elementSize(base.dtype); }

}  // namespace

pjrt::BufferRef upload(const void* data, const Base& base, c10::DeviceIndex device) {
  return guarded("copy to the device", device, [&] {
    return pjrt::BufferRef(pjrt::Client::get().from_host(data, size_in_bytes(base), element_type(base.dtype),
                                                         base.sizes.data(), base.sizes.size(),
                                                         static_cast<size_t>(device)));
  });
}

pjrt::BufferRef upload_for_good(std::shared_ptr<const void> owner, const void* data, const Base& base,
                                c10::DeviceIndex device) {
  return guarded("copy to the device", device, [&] {
    return pjrt::BufferRef(pjrt::Client::get().adopt_host(std::move(owner), data, size_in_bytes(base),
                                                          element_type(base.dtype), base.sizes.data(),
                                                          base.sizes.size(), static_cast<size_t>(device)));
  });
}

}  // namespace torchtpu::runtime
