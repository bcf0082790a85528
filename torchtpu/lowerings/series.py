"""Sums of which special functions are made: polynomials, their quotients, and Chebyshev series."""

from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array


def polynomial(coefficients: Sequence[float | Array], x: Array) -> Array:
    """By Horner's scheme; the coefficient of the highest power comes first, as in Cephes."""
    total = jnp.full_like(x, coefficients[0]) if isinstance(coefficients[0], float) else coefficients[0]
    for coefficient in coefficients[1:]:
        total = total * x + coefficient
    return total


def ratio(above: Sequence[float], below: Sequence[float], x: Array) -> Array:
    return polynomial(above, x) / polynomial(below, x)


def chebyshev(coefficients: Sequence[float], x: Array) -> Array:
    """By Clenshaw's recurrence, of x in [-2, 2]; the highest degree comes first and the constant term is halved."""
    before, last, total = jnp.zeros_like(x), jnp.zeros_like(x), jnp.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        before, last = last, total
        total = x * last - before + coefficient
    return 0.5 * (total - before)
