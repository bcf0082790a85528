// The predicates that an entry's `checks:` may name: what meta kernels cannot see, since it is in the values of numbers. They run on
// every call, hit or miss. Each says whether the arguments are fine; when they are not, the call runs on the CPU for ATen's error.
// tests/ops/check_samples.py has calls that pass and calls that fail each of them.
#pragma once

#include <ATen/core/ivalue.h>

namespace torchtpu::dispatch::checks {

using Args = c10::ArrayRef<c10::IValue>;

// The last number among the arguments, a fill value, is representable in self's dtype.
bool value_fits_self(Args args);
// (self, other, alpha): alpha is of no higher kind than the result.
bool alpha_matches_dtype(Args args);
// (self, min, max, ...): the numbers among a clamp's bounds are representable in self's dtype.
bool bounds_fit(Args args);
// (self, exponent): no integer is raised to a negative integer.
bool no_integer_to_negative_power(Args args);
// (start, end, step, ...): finite, a step that leads from start to end.
bool arange_bounds(Args args);

// (self, p, dim, maxnorm): the largest norm is not negative.
bool renorm_maxnorm(Args args);

// Backward of in-place activations, which cannot be inverted for a negative slope.
bool leaky_relu_in_place_slope(Args args);
bool elu_in_place_alpha(Args args);

// Parameters of distributions.
bool uniform_bounds(Args args);
bool normal_std(Args args);
bool log_normal_std(Args args);
bool cauchy_sigma(Args args);
bool exponential_lambda(Args args);
bool geometric_p(Args args);
bool bernoulli_p(Args args);
bool random_from_to(Args args);  // Warns as ATen does of bounds between which a floating dtype lacks integers.

}  // namespace torchtpu::dispatch::checks
