#include <ATen/EmptyTensor.h>

#include "aten/native.h"
#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/storage.h"

namespace torchtpu::native {
namespace {

// Checks what the factory functions share, and makes a tensor that holds no memory yet.
at::Tensor make_empty(c10::IntArrayRef sizes, c10::IntArrayRef strides, std::optional<at::ScalarType> dtype,
                      std::optional<at::Layout> layout, std::optional<at::Device> device, std::optional<bool> pin_memory) {
  TORCH_CHECK_NOT_IMPLEMENTED(layout.value_or(at::kStrided) == at::kStrided,
                              "torchtpu: the tpu device has strided tensors only, not ", *layout);
  TORCH_CHECK(!pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
  auto type = dtype.value_or(c10::typeMetaToScalarType(c10::get_default_dtype()));
  runtime::element_type(type);  // throws for a dtype that the device does not have
  auto index = runtime::resolve_device(device ? device->index() : -1);
  return runtime::make_tensor(sizes, strides, runtime::base_for(sizes, strides, type), index, {});
}

}  // namespace

at::Tensor empty_memory_format(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype,
                               std::optional<at::Layout> layout, std::optional<at::Device> device,
                               std::optional<bool> pin_memory, std::optional<at::MemoryFormat> memory_format) {
  auto sizes = C10_AS_INTARRAYREF_SLOW(size);
  at::detail::check_size_nonnegative(sizes);
  auto itemsize = c10::elementSize(dtype.value_or(c10::typeMetaToScalarType(c10::get_default_dtype())));
  at::detail::computeStorageNbytesContiguous(sizes, itemsize);  // throws when that overflows
  auto strides = runtime::contiguous_strides(sizes);
  auto format = memory_format.value_or(at::MemoryFormat::Contiguous);
  if (format == at::MemoryFormat::ChannelsLast) {
    TORCH_CHECK(sizes.size() == 4, "required rank 4 tensor to use channels_last format");
    strides = c10::get_channels_last_strides_2d(sizes);
  } else if (format == at::MemoryFormat::ChannelsLast3d) {
    TORCH_CHECK(sizes.size() == 5, "required rank 5 tensor to use channels_last_3d format");
    strides = c10::get_channels_last_strides_3d(sizes);
  } else {
    TORCH_CHECK(format == at::MemoryFormat::Contiguous, "unsupported memory format option ", format);
  }
  return make_empty(sizes, strides, dtype, layout, device, pin_memory);
}

at::Tensor _efficientzerotensor(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype,
                                std::optional<at::Layout> layout, std::optional<at::Device> device,
                                std::optional<bool> pin_memory) {
  return empty_memory_format(size, dtype, layout, device, pin_memory, std::nullopt).zero_();
}

at::Tensor empty_strided(c10::SymIntArrayRef size, c10::SymIntArrayRef stride, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout> layout, std::optional<at::Device> device,
                         std::optional<bool> pin_memory) {
  auto sizes = C10_AS_INTARRAYREF_SLOW(size);
  auto strides = C10_AS_INTARRAYREF_SLOW(stride);
  at::detail::check_size_nonnegative(sizes);
  TORCH_CHECK(sizes.size() == strides.size(), "dimensionality of sizes (", sizes.size(),
              ") must match dimensionality of strides (", strides.size(), ")");
  auto itemsize = c10::elementSize(dtype.value_or(c10::typeMetaToScalarType(c10::get_default_dtype())));
  at::detail::computeStorageNbytes(sizes, strides, itemsize);  // throws when that overflows
  return make_empty(sizes, strides, dtype, layout, device, pin_memory);
}

}  // namespace torchtpu::native
