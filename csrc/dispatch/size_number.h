// Arithmetic of `sizes: {key: ...}`, as ATen counts elements: of integers exactly, of floats in double.
#pragma once

#include <c10/core/Scalar.h>

#include <cmath>
#include <cstdint>
#include <functional>

namespace torchtpu::dispatch {

// A number of a size expression. The mantissa of a long double holds every int64_t, and of a quotient of two enough to
// round it up or down rightly.
struct SizeNumber {
  long double value;
  bool exact;

  SizeNumber(const c10::Scalar& scalar)
      : value(scalar.isIntegral(true) ? static_cast<long double>(scalar.toLong()) : scalar.toDouble()),
        exact(scalar.isIntegral(true)) {}
  SizeNumber(double literal) : value(literal), exact(true) {}  // as written in ops.yaml
  SizeNumber(long double value, bool exact) : value(value), exact(exact) {}

  int64_t count() const { return static_cast<int64_t>(value); }
};

template <class Operation>
SizeNumber combine(SizeNumber a, SizeNumber b, Operation operation) {
  if (a.exact && b.exact) return {operation(a.value, b.value), true};
  return {operation(static_cast<double>(a.value), static_cast<double>(b.value)), false};
}

inline SizeNumber operator+(SizeNumber a, SizeNumber b) { return combine(a, b, std::plus<>()); }
inline SizeNumber operator-(SizeNumber a, SizeNumber b) { return combine(a, b, std::minus<>()); }
inline SizeNumber operator*(SizeNumber a, SizeNumber b) { return combine(a, b, std::multiplies<>()); }
inline SizeNumber operator/(SizeNumber a, SizeNumber b) { return combine(a, b, std::divides<>()); }
inline SizeNumber operator-(SizeNumber a) { return {-a.value, a.exact}; }
inline SizeNumber ceil(SizeNumber a) { return {std::ceil(a.value), a.exact}; }
inline SizeNumber floor(SizeNumber a) { return {std::floor(a.value), a.exact}; }
inline SizeNumber abs(SizeNumber a) { return {std::abs(a.value), a.exact}; }
inline SizeNumber max(SizeNumber a, SizeNumber b) { return a.value < b.value ? b : a; }
inline SizeNumber min(SizeNumber a, SizeNumber b) { return b.value < a.value ? b : a; }

}  // namespace torchtpu::dispatch
