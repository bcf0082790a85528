"""Derivatives of the logarithm of the gamma function, by recurrence up to large arguments and a series there.

The kernels of ATen are followed step by step where their rounding shows, which is near the poles: at 0, -1, -2, ...
"""

import math
from functools import reduce
from operator import add, mul

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.promotion import where

# The Bernoulli numbers B2, B4, ..., B24.
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510,
    43867 / 798, -174611 / 330, 854513 / 138, -236364091 / 2730,
)  # fmt: skip
_LARGE = 10  # where the series have all digits of float64


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
    coefficients = [number / (2 * k) for k, number in enumerate(_BERNOULLI[:7], 1)]
    return total + jnp.log(x) - 0.5 / x - square * _polynomial(coefficients, square)


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
    return (-1) ** (n + 1) * factor * _zeta(n + 1, self)


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


def _zeta(s: int, x: Array) -> Array:
    """Hurwitz's zeta function: the sum of (x + k)^-s over k = 0, 1, ...; infinite at 0, -1, -2, ...

    Of a negative x it is the sum over all integers k, which depends on the distance to the nearest pole only, without
    the sum of those beyond. Nothing large cancels, and each of the sums is over positive numbers.
    """
    distance = jnp.abs(x - jnp.round(x))
    positive = _zeta_of_positive(s, where(x > 0, x, 1 - x))
    farther = _zeta_of_positive(s, 1 + distance), _zeta_of_positive(s, 2 - distance)
    if s % 2 == 0:
        negative = _power(distance, -s) + _power(1 - distance, -s) + (sum(farther) - positive)
    else:
        side = where(x > jnp.round(x), jnp.ones_like(x), -1)
        negative = side * (_nearest_two(s, distance) + (farther[0] - farther[1])) + positive
    value = where(x > 0, positive, negative)
    return where((x <= 0) & (x == jnp.floor(x)), jnp.inf, value)


def _nearest_two(s: int, distance: Array) -> Array:
    """distance^-s - (1 - distance)^-s, which cancel half-way between two poles."""
    ratio = (2 * distance - 1) / (1 - distance)  # of the two bases, less one
    return _power(distance, -s) * -jnp.expm1(s * jnp.log1p(ratio))


def _zeta_of_positive(s: int, x: Array) -> Array:
    """The first terms, added from the smallest on to the Euler-Maclaurin sum of the rest."""
    end = x + _LARGE
    factors = [reduce(mul, range(s, s + 2 * k - 1)) / math.factorial(2 * k) for k in range(1, len(_BERNOULLI) + 1)]
    series = _polynomial([number * factor for number, factor in zip(_BERNOULLI, factors)], 1 / (end * end))
    rest = _power(end, 1 - s) * (1 / (s - 1) + (0.5 + series / end) / end)
    return reduce(add, [_power(x + k, -s) for k in reversed(range(_LARGE))], rest)


def _power(x: Array, exponent: int) -> Array:
    """Rounded once, where lax.integer_pow rounds each product."""
    return lax.pow(x, lax.full_like(x, exponent))


def _polynomial(coefficients: list[float], x: Array) -> Array:
    """coefficients[0] + coefficients[1] x + ..."""
    total = jnp.zeros_like(x)
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total
