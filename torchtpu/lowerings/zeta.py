"""Hurwitz's zeta function: the sum of (q + k)^-s over k = 0, 1, ..., for arrays of both."""

import math

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.promotion import where

# The Bernoulli numbers B2, B4, ..., B24.
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510,
    43867 / 798, -174611 / 330, 854513 / 138, -236364091 / 2730,
)  # fmt: skip
_TERMS = 10  # after which the series has all digits of float64


def zeta(self: Array, other: Array) -> Array:
    """Of a negative q and a whole s it is the sum over all integers without the sum of those beyond.

    The sum over all depends on the distance to the nearest pole only: nothing large cancels near a pole.
    """
    s, q = jnp.broadcast_arrays(self, other)
    distance = jnp.abs(q - jnp.round(q))
    positive = _of_positive(s, where(q > 0, q, 1 - q))
    near, far = _of_positive(s, 1 + distance), _of_positive(s, 2 - distance)
    even = lax.pow(distance, -s) + lax.pow(1 - distance, -s) + (near + far - positive)
    side = where(q > jnp.round(q), jnp.ones_like(q), -1)
    odd = side * (_nearest_two(s, distance) + (near - far)) + positive
    is_even = lax.rem(s, lax.full_like(s, 2)) == 0
    whole = s == jnp.floor(s)
    negative = where(whole, where(is_even, even, odd), jnp.nan)
    negative = where(q == jnp.floor(q), jnp.inf, negative)
    value = where(q > 0, positive, where(q <= 0, negative, jnp.nan))
    value = where(q == jnp.inf, jnp.nan, value)
    return _at_the_edges(s, q, where(s > 1, value, where(s == 1, jnp.inf, jnp.full_like(s, jnp.nan))))


def _at_the_edges(s: Array, q: Array, value: Array) -> Array:
    """Where no formula holds, what torch's loop over the terms comes to: for a huge s they are all 0 if q > 1, and what it
    multiplies them with overflows; a base below 1 makes one of them infinite. A pole is a pole of nan as well."""
    value = where((s > 2.5e13) & (q > 1), jnp.nan, value)
    value = where((s == jnp.inf) & (q < 1), jnp.inf, value)
    return where(jnp.isnan(s) & (q <= 0) & (q == jnp.floor(q)), jnp.inf, value)


def _nearest_two(s: Array, distance: Array) -> Array:
    """distance^-s - (1 - distance)^-s, which cancel half-way between two poles."""
    ratio = (2 * distance - 1) / (1 - distance)  # of the two bases, less one
    return lax.pow(distance, -s) * -jnp.expm1(s * jnp.log1p(ratio))


def _of_positive(s: Array, q: Array) -> Array:
    """The first terms, added from the smallest on to the Euler-Maclaurin sum of the rest."""
    end = q + _TERMS
    series, factor = s / end * (_BERNOULLI[0] / 2), s / end
    for k, number in enumerate(_BERNOULLI[1:], 2):
        factor = factor * ((s + (2 * k - 3)) / end) * ((s + (2 * k - 2)) / end)
        series = series + number / math.factorial(2 * k) * factor
    last = lax.pow(end, -s)
    # Where even that is 0, the series may be infinite.
    total = lax.pow(end, 1 - s) / (s - 1) + where(last == 0, 0, last * (0.5 + series))
    for k in reversed(range(_TERMS)):
        total = total + lax.pow(q + k, -s)
    return total
