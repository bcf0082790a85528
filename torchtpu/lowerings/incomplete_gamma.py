"""The shares of the gamma distribution below and above x, by the methods that torch and SciPy choose by a and x.

Far from x = a a power series or a continued fraction converges fast. Near it, for large a, Temme's uniform expansion
has them all: DLMF 8.12.
"""

import math
from fractions import Fraction
from functools import cache

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.promotion import where
from torchtpu.lowerings.series import polynomial

_MOST_STEPS = 2000


def igamma(self: Array, other: Array) -> Array:
    """The share below."""
    a, x = jnp.broadcast_arrays(self, other)
    upper = (x > 1) & (x > a)
    below = where(upper, 1 - _above_far(a, x), _below_series(a, x))
    return _with_ends(a, x, where(_is_near(a, x), _uniform(a, x, -1), below), at_zero=0.0)


def igammac(self: Array, other: Array) -> Array:
    """The share above."""
    a, x = jnp.broadcast_arrays(self, other)
    by_series = where(x > 1.1, x < a, where(x <= 0.5, -0.4 / jnp.log(x) < a, x * 1.1 < a))
    above = where(by_series, 1 - _below_series(a, x), _above_far(a, x))
    return _with_ends(a, x, where(_is_near(a, x), _uniform(a, x, 1), above), at_zero=1.0)


def _with_ends(a: Array, x: Array, value: Array, at_zero: float) -> Array:
    """The values at the ends of both ranges; nan where they contradict each other."""
    at_infinity = 1 - at_zero
    value = where(jnp.isinf(x), at_infinity, value)
    value = where(jnp.isinf(a), where(jnp.isinf(x), jnp.nan, jnp.full_like(x, at_zero)), value)
    value = where(x == 0, at_zero, value)
    value = where(a == 0, where(x > 0, jnp.full_like(x, at_infinity), jnp.nan), value)
    return where((a < 0) | (x < 0), jnp.nan, value)


def _is_near(a: Array, x: Array) -> Array:
    return (a > 20) & (jnp.abs(x - a) < 0.3 * a)


def _above_far(a: Array, x: Array) -> Array:
    return where(x > 1.1, _above_fraction(a, x), _above_series(a, x))


def deviation(a: Array, x: Array) -> Array:
    """x / a - 1 - log(x / a), without cancellation near x = a."""
    relative = (x - a) / a
    half = relative / (2 + relative)  # its artanh is half of the logarithm
    square = half * half
    near = relative * half - 2 * half * square * polynomial([1 / k for k in range(25, 1, -2)], square)
    return where(jnp.abs(relative) < 0.4, near, relative - jnp.log(x / a))


def _density(a: Array, x: Array) -> Array:
    """x^a exp(-x) / gamma(a); of a large `a` by Stirling's series."""
    large = a > 10
    stirling = _stirling_tail(where(large, a, 10))
    by_stirling = jnp.exp(-a * deviation(a, x) - stirling) * jnp.sqrt(a / (2 * math.pi))
    return where(large, by_stirling, jnp.exp(a * jnp.log(x) - x - lax.lgamma(a)))


def _stirling_tail(a: Array) -> Array:
    """What Stirling's formula for log(gamma(a)) lacks: 1 / (12 a) - ..."""
    coefficients = [1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12]
    return polynomial(coefficients, 1 / (a * a)) / a


def _below_series(a: Array, x: Array) -> Array:
    """DLMF 8.11.4, for x up to about a."""
    # Elsewhere it would take long to converge to what nobody asks for.
    asked = (x > 0) & (a > 0) & (x <= jnp.maximum(1.1 * a, 1.1)) & ~_is_near(a, x) & jnp.isfinite(a)
    x_, a_ = where(asked, x, 0), where(asked, a, 1)
    enough = jnp.finfo(x.dtype).eps / 2

    def body(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        k, term, total = state
        term = term * (x_ / (a_ + k))
        return k + 1, term, total + term

    def going(state: tuple[Array, Array, Array]) -> Array:
        k, term, total = state
        return (k <= _MOST_STEPS) & jnp.any(term > enough * total)

    one = jnp.ones_like(x)
    total = lax.while_loop(going, body, (jnp.ones((), x.dtype), one, one))[2]
    return total * _density(a, x) / a


def _above_series(a: Array, x: Array) -> Array:
    """DLMF 8.7.3, for x up to 1.1, without the cancellation of 1 - _below_series."""
    term, total = jnp.ones_like(x), jnp.zeros_like(x)
    for n in range(1, 24):
        term = term * (-x / n)
        total = total + term / (a + n)
    logarithm = a * jnp.log(x)
    return -jnp.expm1(logarithm - _lgamma_of_one_more(a)) - jnp.exp(logarithm - lax.lgamma(a)) * total


def _lgamma_of_one_more(a: Array) -> Array:
    """lgamma(1 + a), of which nothing is left where 1 + a rounds to 1."""
    zetas = [1.6449340668482264, 1.2020569031595943, 1.0823232337111382, 1.03692775514337, 1.0173430619844491]
    coefficients = [-0.5772156649015329, *((-1) ** k * zeta / k for k, zeta in enumerate(zetas, 2))]
    return where(a < 0.003, a * polynomial(coefficients[::-1], a), lax.lgamma(1 + a))


def _above_fraction(a: Array, x: Array) -> Array:
    """DLMF 8.9.2, for x from about a on, by Lentz's method."""
    asked = (x > 1) & (x >= 0.9 * a) & (a > 0) & jnp.isfinite(x) & ~_is_near(a, x)
    x_, a_ = where(asked, x, 2), where(asked, a, 1)
    enough = jnp.finfo(x.dtype).eps
    tiny = jnp.finfo(x.dtype).tiny / enough

    def body(state):
        k, b, c, d, value, _ = state
        above = -k * (k - a_)
        b = b + 2
        d = above * d + b
        d = 1 / where(jnp.abs(d) < tiny, tiny, d)
        c = b + above / c
        c = where(jnp.abs(c) < tiny, tiny, c)
        return k + 1, b, c, d, value * d * c, d * c

    b = x_ + 1 - a_
    one = jnp.ones((), x.dtype)
    start = one, b, jnp.full_like(x, 1 / tiny), 1 / b, 1 / b, jnp.zeros_like(x)
    going = lambda state: (state[0] <= _MOST_STEPS) & jnp.any(jnp.abs(state[-1] - 1) > enough)  # noqa: E731
    return lax.while_loop(going, body, start)[-2] * _density(a, x)


def _uniform(a: Array, x: Array, side: int) -> Array:
    """Temme's expansion; side: 1 for the share above, -1 for the one below."""
    near = _is_near(a, x)
    a, x = where(near, a, 100), where(near, x, 100)
    half_square = deviation(a, x)
    eta = jnp.copysign(jnp.sqrt(2 * half_square), x - a)
    rows, columns = (14, 25) if x.dtype == jnp.float64 else (6, 14)
    table = _temme_coefficients()
    series = [polynomial([float(value) for value in reversed(table[k][:columns])], eta) for k in reversed(range(rows))]
    rest = jnp.exp(-a * half_square) * polynomial(series, 1 / a) / jnp.sqrt(2 * math.pi * a)
    return 0.5 * lax.erfc(side * eta * jnp.sqrt(a / 2)) + side * rest


@cache
def _temme_coefficients() -> list[list[Fraction]]:
    """The d[k][n] of DLMF 8.12.13, from those of the inverse of eta(x / a): DLMF 8.12.11."""
    rows, columns = 25, 25
    length = columns + 2 * rows
    inverse = [Fraction(0), Fraction(1)]  # x / a = 1 + the sum of inverse[n] eta^n
    for n in range(2, length + 3):
        cross = sum(j * inverse[j] * inverse[n - j + 1] for j in range(2, n))
        inverse.append((inverse[n - 1] - cross) / (n + 1))
    first = [Fraction(-1, 3)] + [(n + 2) * inverse[n + 2] for n in range(1, length)]
    table, gamma = [first], Fraction(1)
    for k in range(1, rows):
        gamma *= 2 * k + 1
        stirling = (-1) ** k * gamma * inverse[2 * k + 1]
        table.append([stirling * first[n] + (n + 2) * table[-1][n + 2] for n in range(len(table[-1]) - 2)])
    return table
