"""New arrays from numbers, and values written over an array: results have the shape and dtype of what they replace."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from torchtpu.lowerings.elementwise import i0
from torchtpu.lowerings.opmath import opmath_dtype
from torchtpu.lowerings.promotion import Scalar, cast, result_type, where


def fill(self: Array, value: Scalar) -> Array:
    return jnp.broadcast_to(cast(value, self.dtype), self.shape)


def copy(self: Array, src: Array) -> Array:
    return fill(self, src)


def masked_fill(self: Array, mask: Array, value: Scalar) -> Array:
    return jnp.where(mask.astype(bool), cast(value, self.dtype), self)


def arange(start: Scalar, end: Scalar, step: Scalar, dtype: Any, length: int) -> Array:
    """`length` numbers; an integer dtype truncates start and step first, as torch does."""
    dtype = dtype or result_type(start, end, step)
    compute = opmath_dtype(dtype)
    return (cast(start, compute) + cast(step, compute) * lax.iota(compute, length)).astype(dtype)


def linspace(start: Scalar, end: Scalar, steps: int, dtype: Any) -> Array:
    """Each half is counted from its own end, which makes both ends exact; integers are what float64 truncates to."""
    dtype = dtype or result_type(start, end, 1.0)
    compute = opmath_dtype(dtype) if jnp.issubdtype(dtype, jnp.inexact) else jnp.float64
    return cast(_evenly(start, end, steps, dtype, compute), dtype)


def logspace(start: Scalar, end: Scalar, steps: int, base: Scalar, dtype: Any) -> Array:
    """Powers of `base` with linspace's exponents. Real ones are computed in float64, as torch does, since a power
    multiplies the relative error of its exponent. A single exponent is not rounded to `dtype`."""
    dtype = dtype or result_type(start, end, 1.0)
    compute = dtype if jnp.issubdtype(dtype, jnp.complexfloating) else jnp.float64
    exponent = cast(start, compute) if steps == 1 else _evenly(start, end, steps, dtype, compute)
    return jnp.broadcast_to(cast(jnp.power(cast(base, compute), exponent), dtype), steps)


def _evenly(start: Scalar, end: Scalar, steps: int, dtype: Any, compute: Any) -> Array:
    """`steps` numbers between bounds that are first rounded to `dtype`, in the dtype `compute`."""
    start, end = (cast(cast(bound, dtype), compute) for bound in (start, end))
    # Divided by a constant, XLA multiplies by its rounded reciprocal: integers would come out one too small.
    step = (end - start) / lax.optimization_barrier(jnp.asarray(max(steps - 1, 1), compute))
    index = lax.iota(jnp.int32, steps)
    rising, falling = index.astype(compute), (steps - 1 - index).astype(compute)
    return jnp.where(index < max(steps // 2, 1), start + step * rising, end - step * falling)


def eye(n: int, dtype: Any) -> Array:
    return eye_m(n, n, dtype)


def eye_m(n: int, m: int, dtype: Any) -> Array:
    return (_column_minus_row((n, m)) == 0).astype(dtype or jnp.float32)


def kaiser_window(window_length: int, dtype: Any, periodic: bool = True, beta: Scalar = 12.0) -> Array:
    """A periodic window is a longer one without its last point."""
    dtype = dtype or jnp.float32
    if window_length <= 1:
        return jnp.ones((window_length,), dtype)
    compute = opmath_dtype(dtype)
    beta = cast(beta, compute)
    last = window_length - 1 + periodic
    x = lax.iota(compute, window_length) * (2 / last) - 1
    return (i0(beta * jnp.sqrt(jnp.maximum(1 - x * x, 0))) / i0(beta)).astype(dtype)


def tril_indices(row: int, col: int, offset: int, dtype: Any) -> Array:
    return jnp.asarray(np.stack(np.tril_indices(row, offset, col)), dtype)


def triu_indices(row: int, col: int, offset: int, dtype: Any) -> Array:
    return jnp.asarray(np.stack(np.triu_indices(row, offset, col)), dtype)


def tril(self: Array, diagonal: int) -> Array:
    return where(_column_minus_row(self.shape[-2:]) <= diagonal, self, jnp.zeros_like(self))


def triu(self: Array, diagonal: int) -> Array:
    return where(_column_minus_row(self.shape[-2:]) >= diagonal, self, jnp.zeros_like(self))


def _column_minus_row(shape: tuple[int, ...]) -> Array:
    return lax.broadcasted_iota(jnp.int32, shape, 1) - lax.broadcasted_iota(jnp.int32, shape, 0)


def range_with_end(start: Scalar, end: Scalar, step: Scalar, dtype: Any, length: int) -> Array:
    """As arange, with the end."""
    return arange(start, end, step, dtype, length)
