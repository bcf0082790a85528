// One call of one overload: its arguments sorted into tensors ("uses") and traced numbers, and the key that they make.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "cache/key.h"
#include "dispatch/op_spec.h"
#include "runtime/device_buffer.h"

namespace torchtpu::dispatch {

// A tensor of the call that lives on the device.
struct Use {
  const at::Tensor* tensor;
  runtime::DeviceBuffer* buffer;
  uint32_t header;   // where its first word stands in the key
  uint16_t storage;  // the first use with the same storage: one buffer is passed once
  uint16_t same;     // where one of them is written: the first use that is the same tensor, which no out= resizes
  bool written;
  bool whole;        // contiguous, from the start, with the shape and dtype of its base
  bool gather;       // its plan is a gather: slices do not fit, or do not fit at this offset
};

// A number whose value is no part of the key: a Scalar, a float, or the value of a 0-dim CPU tensor.
struct TracedNumber {
  const c10::IValue* scalar;  // one of the two
  const at::Tensor* tensor;
  bool specialized;  // its value is in the key after all
};

// Thrown by Call: no tensor of the call is on the device, only its generator, which is what brought it here.
struct BelongsToTheCpu {};

class Call {
 public:
  // Throws when the tensors are on different devices.
  Call(const OpSpec& spec, c10::ArrayRef<c10::IValue> args);

  // From now on `use` is read and written by gather and scatter.
  void choose_gather(size_t use);
  // True when a written tensor overlaps itself, or another argument in part: what most ATen kernels refuse.
  bool overlaps() const;
  // True when a list is written and one of its tensors shares memory with another of the call's: PyTorch then goes through the list
  // in order, and each step sees what the ones before it wrote.
  bool writes_in_order() const;
  bool writes_list() const { return writes_list_; }

  const OpSpec& spec;
  c10::ArrayRef<c10::IValue> args;
  c10::SmallVector<Use, 6> uses;
  c10::SmallVector<TracedNumber, 4> numbers;
  cache::Key key;
  c10::DeviceIndex device = -1;  // of the tensors; -1 when there are none
  bool resized = false;          // an out= has been resized for it, after PyTorch's checks

 private:
  void add(const ArgSpec& spec, const c10::IValue& arg);
  void add_tensor(const at::Tensor& tensor, bool written);
  void add_number(const ArgSpec& spec, const c10::IValue& number);
  void add_static(const c10::IValue& value);

  bool writes_list_ = false;
};

}  // namespace torchtpu::dispatch
