#include "runtime/storage.h"

#include <ATen/ops/narrow.h>

#include <algorithm>
#include <mutex>
#include <numeric>

#include "runtime/allocator.h"
#include "runtime/live_buffers.h"

namespace torchtpu::runtime {
std::vector<int64_t> contiguous_strides(c10::IntArrayRef sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

Base base_for(c10::IntArrayRef sizes, c10::IntArrayRef strides, c10::ScalarType dtype) {
  Sizes order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  // A dimension of size one has no place of its own in memory; sorting by its arbitrary stride must not hide a dense layout.
  int64_t expected = 1, last = 0;
  bool dense = true;
  for (size_t i = order.size(); i-- > 0;) {
    int64_t size = sizes[order[i]];
    if (size == 1) continue;
    dense = dense && (strides[order[i]] == expected || size == 0);
    expected *= size;
    last += (size - 1) * strides[order[i]];
  }
  Base base{{}, dtype};
  if (dense || expected == 0) {
    for (int64_t dim : order) base.sizes.push_back(sizes[dim]);
  } else {
    base.sizes.push_back(last + 1);
  }
  return base;
}

at::Tensor make_tensor(c10::IntArrayRef sizes, c10::IntArrayRef strides, Base base, c10::DeviceIndex device,
                       pjrt::BufferRef buffer) {
  auto dtype = c10::scalarTypeToTypeMeta(base.dtype);
  size_t nbytes = static_cast<size_t>(base.numel()) * dtype.itemsize();
  auto data = make_data_ptr(std::move(base), nbytes, device);
  if (buffer) static_cast<DeviceBuffer*>(data.get_context())->store(std::move(buffer));
  auto storage = c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), nbytes, std::move(data),
                                                       allocator(), /*resizable=*/true);
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(std::move(storage),
                                                         c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), dtype);
  auto* impl = tensor.unsafeGetTensorImpl();
  if (sizes.size() != 1 || sizes[0] != 0) impl->set_sizes_and_strides(sizes, strides);
  return tensor;
}

namespace {

// DLPack hands over the address of the first element and no offset. A tensor made of it gets the offset that it has in
// the storage around the address, and a storage of that extent, which keeps the one that it had and so what was exported.
void adopt(c10::TensorImpl& tensor, DeviceBuffer& buffer, size_t distance) {
  auto storage = tensor.unsafe_storage();
  c10::DataPtr data(buffer.address(), new c10::Storage(storage),
                    [](void* kept) { delete static_cast<c10::Storage*>(kept); }, storage.device());
  auto whole = c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), buffer.nbytes(),
                                                     std::move(data), allocator(), /*resizable=*/false);
  bool allowed = tensor.allow_tensor_metadata_change();  // not in what detach() made, but the tensor stays what it is
  tensor.set_allow_tensor_metadata_change(true);
  // In this order: whoever sees the new storage sees the offset that goes with it.
  tensor.set_storage_offset(tensor.storage_offset() + static_cast<int64_t>(distance / tensor.itemsize()));
  tensor.set_storage_keep_dtype(std::move(whole));
  tensor.set_allow_tensor_metadata_change(allowed);
}

// Gives the storage another base and size, without a value. data_ptr() moves when the size changes, as on the CPU.
void replace(const c10::Storage& storage, Base base, size_t nbytes) {
  auto& handle = DeviceBuffer::of(storage);
  handle.reset(std::move(base), nbytes);
  auto* impl = storage.unsafeGetStorageImpl();
  auto& data = impl->_mutable_data_ptr_no_checks();
  auto deleter = data.get_deleter();
  void* context = data.release_context();
  impl->set_data_ptr_noswap({handle.address(), context, deleter, {c10::DeviceType::PrivateUse1, handle.device()}});
  impl->set_nbytes(nbytes);
}

}  // namespace

DeviceBuffer& buffer_at_address(c10::TensorImpl& tensor) {
  static std::mutex mutex;  // of two threads that use such a tensor for the first time, one moves it
  std::lock_guard lock(mutex);
  const auto* address = static_cast<const char*>(tensor.unsafe_storage().data());
  auto* around = find_live_buffer_around(address);
  if (around && around->address() != address) {
    auto distance = static_cast<size_t>(address - static_cast<const char*>(around->address()));
    if (distance % tensor.itemsize() == 0) adopt(tensor, *around, distance);
  }
  return DeviceBuffer::of(tensor.unsafe_storage());
}

void rebase(const c10::Storage& storage, Base base) {
  size_t nbytes = static_cast<size_t>(base.numel()) * c10::elementSize(base.dtype);
  replace(storage, std::move(base), nbytes);
}

void resize(const c10::Storage& storage, size_t nbytes) {
  auto& handle = DeviceBuffer::of(storage);
  size_t itemsize = c10::elementSize(handle.base().dtype);
  Base base{{static_cast<int64_t>((nbytes + itemsize - 1) / itemsize)}, handle.base().dtype};
  int64_t kept = std::min(base.sizes[0], handle.base().numel());
  if (handle.is_empty() || kept == 0) return replace(storage, std::move(base), nbytes);
  auto device = handle.device();
  auto resized = make_tensor(base.sizes, {1}, base, device, {});
  auto old = make_tensor({handle.base().numel()}, {1}, handle.base(), device, handle.load());
  at::narrow(resized, 0, 0, kept).copy_(at::narrow(old, 0, 0, kept));
  replace(storage, std::move(base), nbytes);
  handle.store(buffer_of(resized).load());
}

}  // namespace torchtpu::runtime
