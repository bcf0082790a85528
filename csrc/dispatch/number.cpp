#include "dispatch/number.h"

#include <ATen/Dispatch_v2.h>

#include <bit>

namespace torchtpu::dispatch {
namespace {

double real(double value) { return value; }
int64_t real(int64_t value) { return value; }
double real(c10::complex<double> value) { return value.real(); }
double imaginary(c10::complex<double> value) { return value.imag(); }
double imaginary(double) { return 0; }
double imaginary(int64_t) { return 0; }

// Appends a value that has the widest type of its kind.
template <typename T>
void append(cache::Words& words, T value, cache::Format format) {
  auto number = real(value);
  switch (format) {
    case cache::Format::F32: words.push_back(std::bit_cast<uint32_t>(static_cast<float>(number))); break;
    case cache::Format::F64: append_word64(words, std::bit_cast<uint64_t>(static_cast<double>(number))); break;
    case cache::Format::S32: words.push_back(static_cast<uint32_t>(static_cast<int64_t>(number))); break;
    case cache::Format::S64: append_word64(words, static_cast<uint64_t>(static_cast<int64_t>(number))); break;
    case cache::Format::C64:
      words.push_back(std::bit_cast<uint32_t>(static_cast<float>(number)));
      words.push_back(std::bit_cast<uint32_t>(static_cast<float>(imaginary(value))));
      break;
    case cache::Format::C128:
      append_word64(words, std::bit_cast<uint64_t>(static_cast<double>(number)));
      append_word64(words, std::bit_cast<uint64_t>(static_cast<double>(imaginary(value))));
      break;
  }
}

template <typename T>
void append_element(cache::Words& words, T value, cache::Format format) {
  if constexpr (c10::is_complex<T>::value) {
    append(words, c10::complex<double>(static_cast<double>(value.real()), static_cast<double>(value.imag())), format);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    // Half of its range is negative as int64, which is right only where it stays an integer.
    bool integral = format == cache::Format::S32 || format == cache::Format::S64;
    integral ? append(words, static_cast<int64_t>(value), format) : append(words, static_cast<double>(value), format);
  } else if constexpr (std::is_integral<T>::value) {
    append(words, static_cast<int64_t>(value), format);
  } else {
    append(words, static_cast<double>(value), format);
  }
}

}  // namespace

void append_number(cache::Words& words, const TracedNumber& number, cache::Format format) {
  if (number.scalar) {
    const c10::IValue& scalar = *number.scalar;
    if (scalar.isDouble()) return append(words, scalar.toDouble(), format);
    if (scalar.isInt()) return append(words, scalar.toInt(), format);
    if (scalar.isUnsigned()) return append_element<uint64_t>(words, scalar.toUInt(), format);
    if (scalar.isBool()) return append(words, static_cast<int64_t>(scalar.toBool()), format);
    return append(words, scalar.toComplexDouble(), format);
  }
  const void* data = number.tensor->const_data_ptr();
  AT_DISPATCH_V2(number.tensor->scalar_type(), "torchtpu_cpu_number", AT_WRAP([&] {
    append_element<scalar_t>(words, *static_cast<const scalar_t*>(data), format);
  }), AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES), at::kBool, at::kHalf, at::kBFloat16,
     at::kComplexHalf);
}

}  // namespace torchtpu::dispatch
