#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>

#include "aten/native.h"
#include "runtime/allocator.h"
#include "runtime/device.h"
#include "runtime/storage.h"

namespace torchtpu::native {
namespace {

// Makes the storage large enough for the tensor. One that was never written simply takes the tensor's shape as its base.
void fit_storage(const at::Tensor& self) {
  auto* impl = self.unsafeGetTensorImpl();
  if (impl->numel() == 0) return;
  size_t needed = at::detail::computeStorageNbytes(impl->sizes(), impl->strides(), impl->itemsize(), impl->storage_offset());
  const auto& storage = impl->unsafe_storage();
  if (needed <= storage.nbytes()) return;
  if (runtime::DeviceBuffer::of(storage).is_empty() && impl->storage_offset() == 0) {
    runtime::rebase(storage, runtime::base_for(impl->sizes(), impl->strides(), self.scalar_type()));
  } else {
    runtime::resize(storage, needed);
  }
}

}  // namespace

const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef size, std::optional<at::MemoryFormat> memory_format) {
  auto* impl = self.unsafeGetTensorImpl();
  if (impl->sizes() != size) {
    at::detail::check_size_nonnegative(size);
    impl->set_sizes_contiguous(size);
  }
  if (memory_format) {
    TORCH_CHECK(*memory_format != at::MemoryFormat::Preserve, "Unsupported memory format", *memory_format);
    impl->empty_tensor_restride(*memory_format);
  }
  fit_storage(self);
  return self;
}

at::Tensor& set_source_Storage_storage_offset(at::Tensor& self, at::Storage source, int64_t storage_offset,
                                              at::IntArrayRef size, at::IntArrayRef stride) {
  at::native::checkSetStorage(self, source, storage_offset, size, stride);
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_storage_offset(storage_offset);
  if (stride.data()) {
    impl->set_sizes_and_strides(size, stride);
  } else {
    impl->set_sizes_contiguous(size);
  }
  fit_storage(self);
  return self;
}

at::Tensor& set_source_Storage(at::Tensor& self, at::Storage source) {
  auto numel = static_cast<int64_t>(source.nbytes() / self.itemsize());
  return set_source_Storage_storage_offset(self, std::move(source), 0, numel, {});
}

bool is_set_to(const at::Tensor& self, const at::Tensor& tensor) {
  return self.storage().unsafeGetStorageImpl() == tensor.storage().unsafeGetStorageImpl() &&
         self.storage_offset() == tensor.storage_offset() && self.sizes() == tensor.sizes() &&
         self.strides() == tensor.strides();
}

at::Tensor& set_source_Tensor(at::Tensor& self, const at::Tensor& source) {
  if (self.is_same(source)) return self;
  return set_source_Storage_storage_offset(self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

at::Tensor& set_(at::Tensor& self) {
  return set_source_Storage_storage_offset(self, at::Storage(at::Storage::use_byte_size_t(), 0, runtime::allocator(), true), 0,
                                           {0}, {});
}

}  // namespace torchtpu::native
