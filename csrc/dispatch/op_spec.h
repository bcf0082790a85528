// What the generated tables say about one registered ATen overload. Plain data: generated/csrc fills it, the trampoline
// reads it.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/library.h>

#include <cstdint>
#include <vector>

namespace torchtpu::dispatch {

// What the trampoline does with one argument of the schema.
enum class Role : uint8_t {
  Read,       // a tensor, an optional tensor or a list of them, read by the program
  Write,      // likewise, and written by it (self of an in-place overload, every out=)
  Traced,     // a number, an optional number or a list of numbers: its type is in the key, its value in the operand buffer
  Static,     // in the key by value
  Generator,  // where random numbers come from
  Ignored,    // cannot change the program: layout, pin_memory, device
};

// A predicate over the arguments that runs on every call. When it is false the call runs on the CPU, for ATen's own error.
using Check = bool (*)(c10::ArrayRef<c10::IValue> args);
// A run-time size that belongs to the key though the numbers that it comes from stay traced.
using KeySize = int64_t (*)(c10::ArrayRef<c10::IValue> args);
// The largest of a list of numbers, 0 of an empty one: `max(name)` in the expression of a size.
double largest(const c10::IValue& numbers);

struct ArgSpec {
  const char* name;
  Role role;
  // Values of a traced number that get a program of their own (the schema's default among them).
  std::vector<double> specialize = {};
};

struct OpSpec {
  const char* overload;  // "add_.Tensor": the overload that this registers
  const char* entry;     // "add.Tensor": the entry of ops.yaml that it comes from
  bool rng;
  bool matmul_precision;  // torch.get_float32_matmul_precision() changes the program
  std::vector<ArgSpec> args;
  std::vector<Check> checks = {};
  std::vector<KeySize> key_sizes = {};  // in the order of the entry's `sizes: {key: ...}`
};

// Registers one boxed kernel per spec on PrivateUse1. The specs must outlive the library.
void register_ops(torch::Library& library, const std::vector<OpSpec>& specs);

}  // namespace torchtpu::dispatch
