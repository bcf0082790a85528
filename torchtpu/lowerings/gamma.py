"""Derivatives of the logarithm of the gamma function, by recurrence up to large arguments and a series there.

The kernels of ATen are followed step by step where their rounding shows, which is near the poles: at 0, -1, -2, ...
"""

import math

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.promotion import where
from torchtpu.lowerings.series import polynomial
from torchtpu.lowerings.zeta import zeta

# The Bernoulli numbers B2, B4, ..., B14.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
_LARGE = 10  # where the series has all digits of float64


def digamma(self: Array) -> Array:
    """At the poles: -+inf at +-0, and nan at the negative integers."""
    pole = jnp.copysign(lax.full_like(self, jnp.inf), -self)
    negative_integer = (self < 0) & (self == jnp.trunc(self))
    reflected = _digamma_of_positive(1 - self) - _pi_cotangent(self)
    value = where(self < 0, reflected, _digamma_of_positive(self))
    return where(self == 0, pole, where(negative_integer, jnp.nan, value))


def _digamma_of_positive(x: Array) -> Array:
    total = jnp.zeros_like(x)
    for _ in range(_LARGE):
        small = x < _LARGE
        total, x = where(small, total - 1 / x, total), where(small, x + 1, x)
    square = 1 / (x * x)
    coefficients = [number / (2 * k) for k, number in enumerate(_BERNOULLI, 1)]
    return total + jnp.log(x) - 0.5 / x - square * polynomial(coefficients[::-1], square)


def _pi_cotangent(x: Array) -> Array:
    """pi / tan(pi x). Its period is removed first, and near its zeros it is the tangent of what is missing to 1/2."""
    rest = x - jnp.round(x)
    missing = jnp.copysign(0.5 - jnp.abs(rest), rest)
    return math.pi * where(jnp.abs(rest) > 0.25, jnp.tan(math.pi * missing), 1 / jnp.tan(math.pi * rest))


def polygamma(n: int, self: Array) -> Array:
    """The derivative number `n` of digamma."""
    if n == 0:
        return digamma(self)
    if n == 1:
        return _trigamma(self)
    factorial = math.factorial(n)
    factor = factorial if factorial <= float(jnp.finfo(self.dtype).max) else math.inf
    return (-1) ** (n + 1) * factor * zeta(lax.full_like(self, n + 1), self)


def _trigamma(x: Array) -> Array:
    """Reflected at 1/2, with the sine of the rounded pi x, as in ATen: at most poles it is large, not infinite."""
    reflect = x < 0.5
    sine = jnp.sin(math.pi * x)
    total = where(reflect, -(math.pi**2) / (sine * sine), jnp.zeros_like(x))
    x = where(reflect, 1 - x, x)
    for _ in range(6):
        total, x = total + 1 / (x * x), x + 1
    square = 1 / (x * x)
    total += (1 + 1 / (2 * x) + square * (1 / 6 - square * (1 / 30 - square * (1 / 42)))) / x
    return where(reflect, -total, total)


def mvlgamma(self: Array, p: int) -> Array:
    """The logarithm of the gamma function of symmetric p x p matrices."""
    return sum((lax.lgamma(self - j / 2) for j in range(p)), jnp.full_like(self, p * (p - 1) / 4 * math.log(math.pi)))
