"""Families of orthogonal polynomials. The degree `n` is an array: elements that have reached it wait for the others."""

from collections.abc import Callable

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.promotion import where

_MOST_STEPS = 2**31 - 2


def chebyshev_t(x: Array, n: Array) -> Array:
    return _chebyshev_t(x, n)


def chebyshev_u(x: Array, n: Array) -> Array:
    return _chebyshev_u(x, n, direct=8)


def chebyshev_v(x: Array, n: Array) -> Array:
    return _chebyshev_v(x, n, direct=8)


def chebyshev_w(x: Array, n: Array) -> Array:
    return _chebyshev_w(x, n, direct=8)


def shifted_chebyshev_t(x: Array, n: Array) -> Array:
    return _chebyshev_t(x + x - 1, n)


def shifted_chebyshev_u(x: Array, n: Array) -> Array:
    return _chebyshev_u(x + x - 1, n, direct=6)


def shifted_chebyshev_v(x: Array, n: Array) -> Array:
    return _chebyshev_v(x + x - 1, n, direct=6)


def shifted_chebyshev_w(x: Array, n: Array) -> Array:
    return _chebyshev_w(x + x - 1, n, direct=4)


def _chebyshev_t(x: Array, n: Array) -> Array:
    x, n = _degrees(x, n)
    wave = jnp.cos(n * jnp.arccos(x))
    return _chebyshev(x, n, x, wave, direct=6, at_one=jnp.ones_like(x), at_minus_one=_sign(n))


def _chebyshev_u(x: Array, n: Array, direct: int) -> Array:
    x, n = _degrees(x, n)
    angle = jnp.arccos(x)
    wave = jnp.sin((n + 1) * angle) / jnp.sin(angle)
    return _chebyshev(x, n, x + x, wave, direct, at_one=n + 1, at_minus_one=_sign(n) * (n + 1))


def _chebyshev_v(x: Array, n: Array, direct: int) -> Array:
    x, n = _degrees(x, n)
    angle, end = jnp.arccos(x), _sign(n) * (n + n + 1)
    # So near to -1 that the quotient is of rounding errors.
    wave = where(jnp.sin(angle / 2) == 1, end, jnp.cos((n + 0.5) * angle) / jnp.cos(angle / 2))
    return _chebyshev(x, n, x + x - 1, wave, direct, at_one=jnp.ones_like(x), at_minus_one=end)


def _chebyshev_w(x: Array, n: Array, direct: int) -> Array:
    x, n = _degrees(x, n)
    angle, end = jnp.arccos(x), n + n + 1
    wave = where(jnp.cos(angle / 2) == 1, end, jnp.sin((n + 0.5) * angle) / jnp.sin(angle / 2))
    return _chebyshev(x, n, x + x + 1, wave, direct, at_one=end, at_minus_one=_sign(n))


def _chebyshev(x: Array, n: Array, first: Array, wave: Array, direct: int, at_one: Array, at_minus_one: Array) -> Array:
    """`wave`: the value between -1 and 1, in closed form, which serves for degrees above `direct`."""
    ends, waves = jnp.abs(x) == 1, (n > direct) & (jnp.abs(x) < 1)
    twice = x + x
    value = _recurrence(lambda k, last, before: twice * last - before, first, where(ends | waves, 0, n))
    value = where(waves, wave, value)
    return _of_degree(n, where(x == 1, at_one, where(x == -1, at_minus_one, value)))


def hermite_h(x: Array, n: Array) -> Array:
    """The physicists'."""
    x, n = _degrees(x, n)
    twice = x + x
    return _hermite(lambda k, last, before: twice * last - (k + k) * before, twice, n)


def hermite_he(x: Array, n: Array) -> Array:
    """The probabilists'."""
    x, n = _degrees(x, n)
    return _hermite(lambda k, last, before: x * last - k * before, x, n)


def _hermite(step: Callable, first: Array, n: Array) -> Array:
    """torch gives up above a degree that depends on the type."""
    limit = 512 if first.dtype == jnp.float64 else 128
    value = _recurrence(step, first, jnp.minimum(n, limit), until_nan=False)
    return _of_degree(n, where(n > limit, jnp.nan, value))


def laguerre_l(x: Array, n: Array) -> Array:
    x, n = _degrees(x, n)

    def step(k: Array, last: Array, before: Array) -> Array:
        return ((k + k + (1 - x)) * last - k * before) / (k + 1)

    return _of_degree(n, where(x == 0, 1, _recurrence(step, 1 - x, where(x == 0, 0, n))))


def legendre_p(x: Array, n: Array) -> Array:
    x, n = _degrees(x, n)
    ends = jnp.abs(x) == 1

    def step(k: Array, last: Array, before: Array) -> Array:
        return ((k + k + 1) * x * last - k * before) / (k + 1)

    value = _recurrence(step, x, where(ends, 0, n))
    return _of_degree(n, where(x == 1, 1, where(ends, _sign(n), value)))


def _degrees(x: Array, n: Array) -> tuple[Array, Array]:
    """Of one shape, the degrees whole. What no int64 holds is none, as on the CPU."""
    x, n = jnp.broadcast_arrays(x, n)
    return x, where(jnp.abs(n) < 2.0**63, jnp.trunc(n), -1)


def _of_degree(n: Array, value: Array) -> Array:
    return where(n < 0, 0, where(n == 0, 1, value))


def _sign(n: Array) -> Array:
    """(-1)^n."""
    return 1 - 2 * jnp.abs(lax.rem(n, lax.full_like(n, 2)))


def _recurrence(step: Callable, first: Array, n: Array, until_nan: bool = True) -> Array:
    """The polynomial of degree `n` from those of degree 0 and 1: step(k, p[k], p[k - 1]) is p[k + 1].

    The steps receive k as an array that the loop carries: by a number XLA would not divide, but multiply by its inverse,
    whose error adds up.
    """
    steps = jnp.minimum(n, _MOST_STEPS).astype(jnp.int32)

    def going(k: Array, last: Array) -> Array:
        return (k < steps) & ~jnp.isnan(last) if until_nan else k < steps

    def body(state: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        k, last, before, ks = state
        keep = going(k, last)
        new = step(ks, last, before)
        return k + 1, jnp.where(keep, new, last), jnp.where(keep, last, before), ks + 1

    start = jnp.int32(1), first, jnp.ones_like(first), jnp.ones_like(first)
    return lax.while_loop(lambda state: jnp.any(going(*state[:2])), body, start)[1]
