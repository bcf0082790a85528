// Tensors and storages over device buffers.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "runtime/device_buffer.h"

namespace torchtpu::runtime {

// The handle of a tensor whose storage somebody made of an address.
DeviceBuffer& buffer_at_address(c10::TensorImpl& tensor);

// Ask before the tensor's storage or storage offset: one that came through DLPack gets its true ones here.
inline DeviceBuffer& buffer_of(const at::TensorBase& tensor) {
  auto* impl = tensor.unsafeGetTensorImpl();
  const auto& data = impl->unsafe_storage().data_ptr();
  if (C10_LIKELY(DeviceBuffer::owns(data))) return *static_cast<DeviceBuffer*>(data.get_context());
  return buffer_at_address(*impl);
}

// Row-major strides, in elements, as PyTorch gives them (a dimension of size 0 counts as 1).
std::vector<int64_t> contiguous_strides(c10::IntArrayRef sizes);

// The row-major base that a fresh tensor of these sizes and strides gets: its dimensions from the largest stride to the
// smallest when it is dense, otherwise (expanded or with gaps) the flat range that it spans.
Base base_for(c10::IntArrayRef sizes, c10::IntArrayRef strides, c10::ScalarType dtype);

// A tensor over a new storage. `buffer` may be null: the storage then holds nothing until it is first used.
at::Tensor make_tensor(c10::IntArrayRef sizes, c10::IntArrayRef strides, Base base, c10::DeviceIndex device,
                       pjrt::BufferRef buffer);

// Gives a storage that holds nothing another base, and the size that goes with it.
void rebase(const c10::Storage& storage, Base base);

// Gives the storage `nbytes`, keeping the contents that fit.
void resize(const c10::Storage& storage, size_t nbytes);

}  // namespace torchtpu::runtime
