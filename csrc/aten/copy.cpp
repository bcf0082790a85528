#include <ATen/ExpandUtils.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <torch/library.h>

#include <memory>

#include "aten/native.h"
#include "pjrt/client.h"
#include "runtime/dtype.h"
#include "runtime/errors.h"
#include "runtime/storage.h"

namespace torchtpu::native {
namespace {

using runtime::buffer_of;

// Large enough that making the page tables for a copy costs more than the bookkeeping of giving memory away.
constexpr size_t kWorthAdopting = 4096;

// Large enough for ATen's copy, which takes as many threads as the process may use; PJRT's and memcpy take one.
constexpr size_t kWorthThreads = 1 << 20;

bool worth_threads(size_t bytes) { return bytes >= kWorthThreads && pjrt::Client::get().host_can_read(); }

// Every byte of the storage belongs to exactly one element of the tensor.
bool covers_storage(const at::Tensor& tensor) {
  return tensor.is_non_overlapping_and_dense() && tensor.storage().nbytes() == tensor.numel() * tensor.itemsize();
}

bool is_whole(const at::Tensor& tensor) {
  const auto& base = buffer_of(tensor).base();
  return tensor.is_contiguous() && tensor.sizes().equals(base.sizes) && tensor.scalar_type() == base.dtype &&
         !tensor.is_conj() && !tensor.is_neg();
}

// dst[...] = src on one device: the `tpu::copy_` program. Below Conjugate and Negative, whose fallbacks would call us again.
void copy_on_device(const at::Tensor& src, const at::Tensor& dst) {
  static auto op = c10::Dispatcher::singleton()
                       .findSchemaOrThrow("tpu::copy_", "")
                       .typed<at::Tensor&(at::Tensor&, const at::Tensor&)>();
  auto self = dst;
  op.redispatch(c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), self, src);
}

// A contiguous copy that is the whole of its storage.
at::Tensor whole_copy(const at::Tensor& src) {
  auto copy = empty_memory_format(c10::fromIntArrayRefSlow(src.sizes()), src.scalar_type(), std::nullopt, src.device(),
                                  std::nullopt, std::nullopt);
  copy_on_device(src, copy);
  return copy;
}

void copy_from_host(const at::Tensor& src, const at::Tensor& dst) {
  auto& handle = buffer_of(dst);  // first: it tells a tensor that came through DLPack where in its storage it lies
  if (!covers_storage(dst) || dst.is_conj() || dst.is_neg()) {
    auto staged = empty_memory_format(c10::fromIntArrayRefSlow(src.sizes()), dst.scalar_type(), std::nullopt, dst.device(),
                                      std::nullopt, std::nullopt);
    copy_from_host(src, staged);
    return copy_on_device(staged, dst);
  }
  // Laid out on the host as on the device, so that the upload is one copy of memory. The storage is written as a whole, and so
  // takes the shape and dtype of this tensor as its base.
  auto options = at::TensorOptions().dtype(dst.scalar_type()).device(at::kCPU);
  bool laid_out = src.scalar_type() == dst.scalar_type() && src.sizes() == dst.sizes() && src.strides() == dst.strides() &&
                  !src.is_conj() && !src.is_neg();
  bool as_it_is = laid_out && !worth_threads(src.nbytes());
  auto staged = as_it_is ? src : at::empty_strided(dst.sizes(), dst.strides(), options).copy_(src);
  auto base = runtime::base_for(dst.sizes(), dst.strides(), dst.scalar_type());
  // A source may be written when we have returned, and has to be copied; what was staged is ours alone.
  auto buffer = as_it_is || staged.nbytes() < kWorthAdopting
                    ? runtime::upload(staged.const_data_ptr(), base, handle.device())
                    : runtime::upload_for_good(std::make_shared<at::Tensor>(staged), staged.const_data_ptr(), base,
                                               handle.device());
  handle.reset(std::move(base), handle.nbytes());
  handle.store(std::move(buffer));
}

// The whole of a buffer into the memory of a dense host tensor of its size.
void download(const pjrt::BufferRef& buffer, const at::Tensor& target) {
  auto bytes = static_cast<int64_t>(target.nbytes());
  runtime::guarded("copy to the host", [&] {
    if (!worth_threads(target.nbytes())) return buffer->to_host(target.mutable_data_ptr(), target.nbytes());
    buffer->await();
    auto* there = const_cast<void*>(buffer->device_pointer());  // only read
    at::from_blob(target.mutable_data_ptr(), {bytes}, at::kByte).copy_(at::from_blob(there, {bytes}, at::kByte));
  });
}

void copy_to_host(const at::Tensor& src, const at::Tensor& dst) {
  const auto& base = buffer_of(src).base();
  bool laid_out = covers_storage(src) && src.scalar_type() == base.dtype && !src.is_conj() && !src.is_neg() &&
                  runtime::base_for(src.sizes(), src.strides(), base.dtype).sizes == base.sizes;
  if (!laid_out) return copy_to_host(whole_copy(src), dst);
  bool direct = dst.scalar_type() == src.scalar_type() && dst.sizes() == src.sizes() && dst.strides() == src.strides() &&
                !dst.is_conj() && !dst.is_neg();
  auto options = at::TensorOptions().dtype(src.scalar_type()).device(at::kCPU);
  auto staged = direct ? dst : at::empty_strided(src.sizes(), src.strides(), options);
  download(buffer_of(src).load(), staged);
  if (!direct) dst.copy_(staged);
}

void copy_between_devices(const at::Tensor& src, const at::Tensor& dst) {
  if (!is_whole(src)) return copy_between_devices(whole_copy(src), dst);
  auto staged = empty_memory_format(c10::fromIntArrayRefSlow(src.sizes()), src.scalar_type(), std::nullopt, dst.device(),
                                    std::nullopt, std::nullopt);
  auto& handle = buffer_of(staged);
  auto target = static_cast<size_t>(handle.device());
  handle.store(runtime::guarded("copy between devices", handle.device(), [&] {
    return pjrt::BufferRef(pjrt::Client::get().copy_to_device(*buffer_of(src).load().get(), target));
  }));
  _copy_from(staged, dst, false);
}

}  // namespace

at::Tensor _copy_from(const at::Tensor& self, const at::Tensor& dst, bool) {
  if (dst.numel() == 0) {
    auto sizes = at::infer_size(dst.sizes(), self.sizes());
    TORCH_CHECK(dst.sizes().equals(sizes), "output with shape ", dst.sizes(), " doesn't match the broadcast shape ",
                c10::IntArrayRef(sizes));
    return dst;
  }
  if (self.is_cpu()) {
    copy_from_host(self, dst);
  } else if (dst.is_cpu()) {
    copy_to_host(self, dst);
  } else if (self.device() != dst.device()) {
    TORCH_CHECK_NOT_IMPLEMENTED(self.is_privateuseone() && dst.is_privateuseone(), "torchtpu: copy from ", self.device(), " to ",
                                dst.device(), "; copy through the CPU");
    copy_between_devices(self, dst);
  } else if (is_whole(self) && is_whole(dst) && self.scalar_type() == dst.scalar_type() && self.sizes() == dst.sizes()) {
    // Buffers are immutable: the copy is the same buffer, until one of the two storages is written.
    buffer_of(dst).store(buffer_of(self).capture());
  } else {
    copy_on_device(self, dst);
  }
  return dst;
}

// ATen resolves the bits by clone, which is a copy: this is where they are resolved.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, Negative, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }

// For the second look: on the CPU it is the copy that it stands for.
TORCH_LIBRARY_IMPL(tpu, CPU, m) {
  m.impl("copy_", [](at::Tensor& self, const at::Tensor& src) -> at::Tensor& { return self.copy_(src); });
}

at::Tensor _copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst) {
  dst.resize_(self.sizes());
  return _copy_from(self, dst, false);
}

bool equal(const at::Tensor& self, const at::Tensor& other) {
  TORCH_CHECK(self.device() == other.device(), "Expected all tensors to be on the same device, but found at least two devices, ",
              self.device(), " and ", other.device(), "!");
  if (self.sizes() != other.sizes()) return false;
  return self.numel() == 0 || self.eq(other).all().item<bool>();
}

}  // namespace torchtpu::native
