"""Binary arithmetic with torch's corner cases. Operands have the computation dtype; scalars may be weakly typed."""

from collections.abc import Callable

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.checked import Checked, checked
from torchtpu.lowerings.promotion import Scalar, where


def add(self: Array, other: Array, alpha: Scalar) -> Array:
    return self + _scaled(other, alpha)


def sub(self: Array, other: Array, alpha: Scalar) -> Array:
    return self - _scaled(other, alpha)


def rsub(self: Array, other: Array, alpha: Scalar) -> Array:
    return other - _scaled(self, alpha)


def addcmul(self: Array, tensor1: Array, tensor2: Array, value: Scalar) -> Array:
    return self + _scaled(tensor1, value) * tensor2


def addcdiv(self: Array, tensor1: Array, tensor2: Array, value: Scalar) -> Array:
    return self + _scaled(tensor1, value) / tensor2


def lerp(self: Array, end: Array, weight: Scalar) -> Array:
    """torch starts from the nearer end, so that weight 1 gives exactly `end`."""
    weight = lax.convert_element_type(weight, self.dtype)
    from_self = jnp.abs(weight) < 0.5
    return jnp.where(from_self, self, end) + jnp.where(from_self, weight, weight - 1) * (end - self)


def divide(self: Array, other: Array, rounding_mode: str | None) -> Array | Checked:
    if rounding_mode is None:
        if jnp.issubdtype(self.dtype, jnp.inexact):
            return self / other
        return self.astype(jnp.float32) / other.astype(jnp.float32)
    return floor_divide(self, other) if rounding_mode == "floor" else _truncated_divide(self, other)


def floor_divide(self: Array, other: Array) -> Array | Checked:
    if jnp.issubdtype(self.dtype, jnp.inexact):
        return _floor_divide_floating(self, other)
    return _without_zeros(_floor_divide_integer, self, other)


def remainder(self: Array, other: Array) -> Array | Checked:
    """The sign is that of the divisor."""
    return _without_zeros(jnp.remainder, self, other)


def fmod(self: Array, other: Array) -> Array | Checked:
    """The sign is that of the dividend."""
    return _without_zeros(lax.rem, self, other)


def power(self: Array, exponent: Scalar) -> Array:
    # A specialised exponent is a Python number; torch computes these without pow.
    forms = {2: lambda x: x * x, 3: lambda x: x * x * x, 0.5: jnp.sqrt, -0.5: lax.rsqrt, -1: jnp.reciprocal}
    if isinstance(exponent, (int, float)) and exponent in forms:
        return forms[exponent](self)
    exponent = lax.convert_element_type(exponent, self.dtype)
    if self.dtype == jnp.bool_:
        return self | ~exponent
    if jnp.issubdtype(self.dtype, jnp.integer):
        return _power_integer(self, exponent)
    return lax.pow(*jnp.broadcast_arrays(self, exponent))


def power_of_scalar(self: Scalar, exponent: Array) -> Array:
    return power(lax.convert_element_type(self, exponent.dtype), exponent)


def xlogy(self: Array, other: Array) -> Array:
    return where((self == 0) & ~jnp.isnan(other), 0, self * jnp.log(other))


def heaviside(self: Array, values: Array) -> Array:
    zero = jnp.zeros_like(self)
    return jnp.where(self == zero, values, (self > zero).astype(self.dtype))


def logaddexp(self: Array, other: Array) -> Array:
    if not jnp.iscomplexobj(self):
        return jnp.logaddexp(self, other)
    # jnp would bring the angle back into [-pi, pi].
    larger = self.real >= other.real
    return jnp.where(larger, self, other) + jnp.log1p(jnp.exp(jnp.where(larger, other - self, self - other)))


def gcd(self: Array, other: Array) -> Array:
    """Euclid's; jnp.gcd never ends on the most negative integer."""
    self, other = jnp.broadcast_arrays(self, other)

    def step(pair):
        a, b = pair
        done = b == 0
        return jnp.where(done, a, b), where(done, 0, lax.rem(a, where(done, 1, b)))

    return jnp.abs(lax.while_loop(lambda pair: jnp.any(pair[1] != 0), step, (self, other))[0])


def lcm(self: Array, other: Array) -> Array:
    divisor = gcd(self, other)
    return jnp.abs(lax.div(*jnp.broadcast_arrays(self, where(divisor == 0, 1, divisor))) * other)


def _scaled(x: Array, factor: Scalar) -> Array:
    """factor * x in x's own type: also for bool, where a product is `and`."""
    if isinstance(factor, (bool, int, float)) and factor == 1:
        return x
    return x * lax.convert_element_type(factor, x.dtype)


def _without_zeros(fn: Callable, self: Array, other: Array) -> Array | Checked:
    """An integer division, checked: torch raises ZeroDivisionError, XLA gives some number."""
    self, other = jnp.broadcast_arrays(self, other)
    if not jnp.issubdtype(self.dtype, jnp.integer):
        return fn(self, other)
    zero = other == 0
    return checked(fn(self, where(zero, 1, other)), ~jnp.any(zero))


def _truncated_divide(self: Array, other: Array) -> Array | Checked:
    if jnp.issubdtype(self.dtype, jnp.inexact):
        return jnp.trunc(self / other)
    return _without_zeros(lax.div, self, other)


def _floor_divide_integer(self: Array, other: Array) -> Array:
    quotient, rest = lax.div(self, other), lax.rem(self, other)
    return quotient - ((rest != 0) & ((rest < 0) != (other < 0))).astype(quotient.dtype)


def _floor_divide_floating(self: Array, other: Array) -> Array:
    """Python's algorithm, as torch uses it: exact where floor(a / b) would round up; a / b itself for b == 0."""
    self, other = jnp.broadcast_arrays(self, other)
    rest = lax.rem(self, other)
    quotient = (self - rest) / other
    quotient = jnp.where((rest != 0) & ((rest < 0) != (other < 0)), quotient - 1, quotient)
    floor = jnp.floor(quotient)
    floor = jnp.where(quotient - floor > 0.5, floor + 1, floor)
    floor = jnp.where(quotient == 0, jnp.copysign(jnp.zeros_like(floor), self / other), floor)
    return jnp.where(other == 0, self / other, floor)


def _power_integer(base: Array, exponent: Array) -> Array:
    """By squaring, modulo the range. A negative exponent of anything but 1 and -1 truncates to 0."""
    base, exponent = jnp.broadcast_arrays(base, exponent)

    def square(state):
        power, factor, bits = state
        return jnp.where((bits & 1).astype(bool), power * factor, power), factor * factor, bits >> 1

    start = jnp.ones_like(base), base, jnp.maximum(exponent, 0)
    power, _, _ = lax.while_loop(lambda state: jnp.any(state[2] != 0), square, start)
    odd = (exponent & 1).astype(bool)
    inverse = where(base == 1, base, where(base == -1, where(odd, base, -base), jnp.zeros_like(base)))
    return jnp.where(exponent < 0, inverse, power)


def cross(self: Array, other: Array, dim: int) -> Array:
    rank = max(self.ndim, other.ndim)
    axes = [array.ndim - rank + dim for array in (self, other)]
    return jnp.cross(self, other, axisa=axes[0], axisb=axes[1], axisc=dim)


def add_relu(self: Array, other: Array, alpha: Scalar) -> Array:
    """Between 0 and the largest number, infinities included; nan gives 0."""
    total = add(self, other, alpha)
    limits = jnp.finfo(total.dtype) if jnp.issubdtype(total.dtype, jnp.inexact) else jnp.iinfo(total.dtype)
    return where(total > 0, jnp.minimum(total, limits.max), 0)
