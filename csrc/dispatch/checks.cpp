#include "dispatch/checks.h"

#include <ATen/Dispatch_v2.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/DistributionTemplates.h>

#include <cmath>
#include <optional>

namespace torchtpu::dispatch::checks {
namespace {

bool is_number(const c10::IValue& value) {
  return value.isInt() || value.isUnsigned() || value.isDouble() || value.isComplexDouble() || value.isBool();
}

double real(const c10::IValue& number) {
  if (number.isInt()) return static_cast<double>(number.toInt());
  if (number.isBool()) return number.toBool();
  return number.toDouble();
}

bool fits(const c10::Scalar& value, at::ScalarType dtype) {
  // What has as many bits as the number itself holds every number.
  if (dtype == at::kBool || (value.isIntegral(true) && dtype == at::kLong) || dtype == at::kComplexDouble) return true;
  try {
    AT_DISPATCH_V2(dtype, "value_fits_self", AT_WRAP([&] { value.to<scalar_t>(); }), AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX),
                   AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES), at::kBool, at::kHalf, at::kBFloat16);
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

// What ATen does with random_'s bounds in a floating dtype: moved to where nothing drawn rounds to what is outside, they
// are still in order; and if some integers between them are none of the dtype's, it warns.
bool rounded_bounds_in_order(at::ScalarType dtype, int64_t from, std::optional<int64_t> to) {
  int64_t last = 0;
  bool in_order = false;
  AT_DISPATCH_V2(dtype, "random_from_to", AT_WRAP([&] {
    from = at::native::templates::update_from<scalar_t>(from);
    constexpr int64_t exact = int64_t{1} << std::numeric_limits<scalar_t>::digits;
    last = to ? at::native::templates::update_to<scalar_t>(*to) - 1 : exact;
    in_order = to ? from <= last : from < last;
  }), AT_EXPAND(AT_FLOATING_TYPES), at::kHalf, at::kBFloat16);
  if (in_order) at::native::templates::check_from_to_in_range(from, last, c10::scalarTypeToTypeMeta(dtype));
  return in_order;
}

}  // namespace

bool value_fits_self(Args args) {
  size_t last = args.size() - 1;
  while (last > 0 && !is_number(args[last])) --last;
  return fits(args[last].toScalar(), args[0].toTensor().scalar_type());
}

bool alpha_matches_dtype(Args args) {
  const c10::IValue& alpha = args[2];
  if (alpha.isInt()) return true;
  auto type = c10::promoteTypes(args[0].toTensor().scalar_type(), args[1].toTensor().scalar_type());
  if (alpha.isBool()) return type == at::kBool;
  return c10::isComplexType(type) || (alpha.isDouble() && c10::isFloatingType(type));
}

bool bounds_fit(Args args) {
  auto dtype = args[0].toTensor().scalar_type();
  for (const c10::IValue& bound : args.slice(1)) {
    // A bound of a higher kind changes the result's dtype, and with it what fits.
    bool same_kind = bound.isInt() || bound.isUnsigned() || (bound.isDouble() && c10::isFloatingType(dtype));
    if (is_number(bound) && same_kind && !fits(bound.toScalar(), dtype)) return false;
  }
  return true;
}

bool no_integer_to_negative_power(Args args) {
  return !(args[1].isInt() && args[1].toInt() < 0 && c10::isIntegralType(args[0].toTensor().scalar_type(), true));
}

bool arange_bounds(Args args) {
  double start = real(args[0]), end = real(args[1]), step = real(args[2]);
  return std::isfinite(start) && std::isfinite(end) && (step > 0 ? end >= start : step < 0 && end <= start);
}

bool renorm_maxnorm(Args args) { return real(args[3]) >= 0; }

bool leaky_relu_in_place_slope(Args args) { return !args[3].toBool() || real(args[2]) >= 0; }

bool elu_in_place_alpha(Args args) { return !args[4].toBool() || real(args[1]) >= 0; }

bool uniform_bounds(Args args) {
  // Of complex numbers both parts are drawn.
  auto dtype = c10::toRealValueType(args[0].toTensor().scalar_type());
  double from = args[1].toDouble(), to = args[2].toDouble(), largest = std::numeric_limits<double>::infinity();
  if (c10::isFloatingType(dtype)) {
    AT_DISPATCH_V2(dtype, "uniform_bounds", AT_WRAP([&] {
      largest = static_cast<double>(std::numeric_limits<scalar_t>::max());
    }), AT_EXPAND(AT_FLOATING_TYPES), at::kHalf, at::kBFloat16);
  }
  return from >= -largest && from <= to && to <= largest && to - from <= largest;
}

bool normal_std(Args args) { return (args[2].isDouble() ? args[2] : args[1]).toDouble() >= 0; }

bool log_normal_std(Args args) { return args[2].toDouble() > 0; }

bool cauchy_sigma(Args args) { return args[2].toDouble() > 0; }

bool exponential_lambda(Args args) { return args[1].toDouble() > 0; }

bool geometric_p(Args args) { return args[1].toDouble() > 0 && args[1].toDouble() < 1; }

bool bernoulli_p(Args args) { return args[1].toDouble() >= 0 && args[1].toDouble() <= 1; }

bool random_from_to(Args args) {
  // (self, from, to?, generator) or (self, to, generator), and an out= perhaps: bounds in order and within the dtype.
  auto dtype = args[0].toTensor().scalar_type();
  bool has_from = args.size() - args.back().isTensor() == 4;
  int64_t from = has_from ? args[1].toInt() : 0;
  bool open = has_from && args[2].isNone();
  int64_t to = open ? 0 : args[has_from ? 2 : 1].toInt();
  if (!open && from >= to) return false;
  double lowest = 0, highest = 1;
  if (dtype != at::kBool) {
    AT_DISPATCH_V2(dtype, "random_from_to", AT_WRAP([&] {
      lowest = static_cast<double>(std::numeric_limits<scalar_t>::lowest());
      highest = static_cast<double>(std::numeric_limits<scalar_t>::max());
    }), AT_EXPAND(AT_INTEGRAL_TYPES), AT_EXPAND(AT_FLOATING_TYPES), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES), at::kHalf,
       at::kBFloat16);
  }
  if (static_cast<double>(from) < lowest || (!open && static_cast<double>(to) - 1 > highest)) return false;
  return !c10::isFloatingType(dtype) || rounded_bounds_in_order(dtype, from, open ? std::nullopt : std::optional(to));
}

}  // namespace torchtpu::dispatch::checks
