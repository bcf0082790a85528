"""Bessel's functions and Airy's, by the approximations of Cephes, which torch's CPU kernels use too.

Each has one for small arguments and one for large ones; both are computed everywhere, and the right one is taken.
"""

import math

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings import bessel_tables as tables
from torchtpu.lowerings.elementwise import i0, i1
from torchtpu.lowerings.promotion import where
from torchtpu.lowerings.series import chebyshev, polynomial, ratio

_TWO_OVER_PI = 2 / math.pi


def j0(self: Array) -> Array:
    x = jnp.abs(self)
    square = x * x
    small = (
        (square - 5.78318596294678452118)
        * (square - 30.4712623436620863991)
        * ratio(tables.J0, tables.J0_BELOW, square)
    )
    small = where(x < 1e-5, 1 - square / 4, small)
    even, odd = _amplitudes_0(x)
    return where(x <= 5, small, _wave(x, even, odd, jnp.cos, lambda angle: -jnp.sin(angle), math.pi / 4))


def j1(self: Array) -> Array:
    x = jnp.abs(self)
    square = x * x
    small = (
        ratio(tables.J1, tables.J1_BELOW, square)
        * x
        * (square - 14.6819706421238932572)
        * (square - 49.2184563216946036703)
    )
    even, odd = _amplitudes_1(x)
    value = where(x <= 5, small, _wave(x, even, odd, jnp.cos, lambda angle: -jnp.sin(angle), 3 * math.pi / 4))
    return where(jnp.signbit(self), -value, value)


def y0(self: Array) -> Array:
    small = ratio(tables.Y0, tables.Y0_BELOW, self * self) + _TWO_OVER_PI * jnp.log(self) * j0(self)
    even, odd = _amplitudes_0(self)
    value = where(self <= 5, small, _wave(self, even, odd, jnp.sin, jnp.cos, math.pi / 4))
    return _of_positive(self, value, -jnp.inf)


def y1(self: Array) -> Array:
    small = self * ratio(tables.Y1, tables.Y1_BELOW, self * self)
    small += _TWO_OVER_PI * (j1(self) * jnp.log(self) - 1 / self)
    even, odd = _amplitudes_1(self)
    value = where(self <= 5, small, _wave(self, even, odd, jnp.sin, jnp.cos, 3 * math.pi / 4))
    return _of_positive(self, value, -jnp.inf)


def _amplitudes_0(x: Array) -> tuple[Array, Array]:
    argument = 25 / (x * x)
    return ratio(tables.EVEN0, tables.EVEN0_BELOW, argument), ratio(tables.ODD0, tables.ODD0_BELOW, argument)


def _amplitudes_1(x: Array) -> tuple[Array, Array]:
    argument = (5 / x) * (5 / x)
    return ratio(tables.EVEN1, tables.EVEN1_BELOW, argument), ratio(tables.ODD1, tables.ODD1_BELOW, argument)


def _wave(x: Array, even: Array, odd: Array, first, second, phase: float) -> Array:
    """What all four are far from 0: sqrt(2 / (pi x)) times a wave that is almost a sine."""
    angle = x - phase
    return (even * first(angle) + 5 / x * odd * second(angle)) * math.sqrt(_TWO_OVER_PI) / jnp.sqrt(x)


def k0(self: Array) -> Array:
    large = jnp.exp(-self) * _k_large(tables.K0_LARGE, self)
    return _of_positive(self, where(self <= 2, _k0_small(self), large), jnp.inf)


def k1(self: Array) -> Array:
    large = jnp.exp(-self) * _k_large(tables.K1_LARGE, self)
    return _of_positive(self, where(self <= 2, _k1_small(self), large), jnp.inf)


def scaled_k0(x: Array) -> Array:
    """exp(x) K0(x)."""
    value = where(x <= 2, _k0_small(x) * jnp.exp(x), _k_large(tables.K0_LARGE, x))
    return _of_positive(x, value, jnp.inf)


def scaled_k1(x: Array) -> Array:
    """exp(x) K1(x)."""
    value = where(x <= 2, _k1_small(x) * jnp.exp(x), _k_large(tables.K1_LARGE, x))
    return _of_positive(x, value, jnp.inf)


def _k0_small(x: Array) -> Array:
    return chebyshev(tables.K0_SMALL, x * x - 2) - jnp.log(0.5 * x) * i0(x)


def _k1_small(x: Array) -> Array:
    return jnp.log(0.5 * x) * i1(x) + chebyshev(tables.K1_SMALL, x * x - 2) / x


def _k_large(coefficients: tuple[float, ...], x: Array) -> Array:
    return chebyshev(coefficients, 8 / x - 2) / jnp.sqrt(x)


def _of_positive(x: Array, value: Array, pole: float) -> Array:
    return where(x < 0, jnp.nan, where(x == 0, pole, value))


def spherical_j0(x: Array) -> Array:
    """sin(x) / x."""
    square = x * x
    small = polynomial([(-1) ** k / math.factorial(2 * k + 1) for k in reversed(range(7))], square)
    return where(jnp.isinf(x), 0, where(jnp.abs(x) < 0.5, small, jnp.sin(x) / x))


def airy_ai(x: Array) -> Array:
    """A wave of growing frequency on the negative side, a power series around 0, and a decay on the positive side."""
    value = where(x < -2.09, _airy_wave(x), where(x >= 2.09, _airy_decay(x), _airy_series(x)))
    return where(jnp.isinf(x), jnp.nan, where(x > 103.892, 0, value))


def _airy_wave(x: Array) -> Array:
    angle = -2 * x * jnp.sqrt(-x) / 3
    inverse = 1 / angle
    square = inverse * inverse
    sine = 1 + square * ratio(tables.AIRY_SINE, tables.AIRY_SINE_BELOW, square)
    cosine = inverse * ratio(tables.AIRY_COSINE, tables.AIRY_COSINE_BELOW, square)
    angle += math.pi / 4
    return (sine * jnp.sin(angle) - cosine * jnp.cos(angle)) / (math.sqrt(math.pi) * lax.sqrt(lax.sqrt(-x)))


def _airy_decay(x: Array) -> Array:
    exponent = 2 * x * jnp.sqrt(x) / 3
    value = ratio(tables.AIRY, tables.AIRY_BELOW, 1 / exponent)
    return value / (2 * math.sqrt(math.pi) * lax.sqrt(lax.sqrt(x)) * jnp.exp(exponent))


def _airy_series(x: Array) -> Array:
    """The two power series in x^3 of which each next term is a solution's of y'' = x y."""
    even, odd = [1.0], [1.0]
    for k in range(3, 42, 3):
        even.append(even[-1] / ((k - 1) * k))
        odd.append(odd[-1] / (k * (k + 1)))
    cube = x * x * x
    first, second = 0.355028053887817239260, 0.258819403792806798405  # Ai(0) and -Ai'(0)
    return first * polynomial(even[::-1], cube) - second * x * polynomial(odd[::-1], cube)
