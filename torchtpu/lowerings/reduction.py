"""Reductions. `dim` is a tuple of non-negative axes; for a schema with `int dim` or `int? dim`, one axis or None."""

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.scipy import special

from torchtpu.lowerings import sorting
from torchtpu.lowerings.opmath import opmath
from torchtpu.lowerings.promotion import Scalar, where

Dims = tuple[int, ...] | int | None


def sum(self: Array, dim: Dims, keepdim: bool, dtype: Any) -> Array:
    del dtype  # already the computation dtype
    return jnp.sum(self, axis=dim, keepdims=keepdim, dtype=self.dtype)


def nansum(self: Array, dim: Dims, keepdim: bool, dtype: Any) -> Array:
    return sum(where(jnp.isnan(self), 0, self) if _inexact(self) else self, dim, keepdim, dtype)


def mean(self: Array, dim: Dims, keepdim: bool, dtype: Any) -> Array:
    return sum(self, dim, keepdim, dtype) / _count(self, dim)


def prod_all(self: Array, dtype: Any) -> Array:
    return jnp.prod(self, dtype=self.dtype)


def prod(self: Array, dim: int, keepdim: bool, dtype: Any) -> Array:
    del dtype
    return jnp.prod(_vector(self), axis=dim, keepdims=keepdim, dtype=self.dtype).reshape(_shape(self, dim, keepdim))


def all_all(self: Array) -> Array:
    return all(self, None, False)


def all(self: Array, dim: Dims, keepdim: bool) -> Array:
    return _truth(jnp.all, self, dim, keepdim)


def any_all(self: Array) -> Array:
    return any(self, None, False)


def any(self: Array, dim: Dims, keepdim: bool) -> Array:
    return _truth(jnp.any, self, dim, keepdim)


def max_dim(self: Array, dim: Dims, keepdim: bool) -> tuple[Array, Array]:
    return amax(self, dim, keepdim), argmax(self, dim, keepdim)


def min_dim(self: Array, dim: Dims, keepdim: bool) -> tuple[Array, Array]:
    return amin(self, dim, keepdim), argmin(self, dim, keepdim)


def amax(self: Array, dim: Dims, keepdim: bool) -> Array:
    return jnp.max(_vector(self), axis=dim, keepdims=keepdim).reshape(_shape(self, dim, keepdim))


def amin(self: Array, dim: Dims, keepdim: bool) -> Array:
    return jnp.min(_vector(self), axis=dim, keepdims=keepdim).reshape(_shape(self, dim, keepdim))


def aminmax(self: Array, dim: Dims, keepdim: bool) -> tuple[Array, Array]:
    return amin(self, dim, keepdim), amax(self, dim, keepdim)


def argmax(self: Array, dim: Dims, keepdim: bool) -> Array:
    """The first of equal ones; a nan is the largest."""
    return jnp.argmax(_vector(self), axis=dim, keepdims=keepdim).reshape(_shape(self, dim, keepdim))


def argmin(self: Array, dim: Dims, keepdim: bool) -> Array:
    return jnp.argmin(_vector(self), axis=dim, keepdims=keepdim).reshape(_shape(self, dim, keepdim))


def var(self: Array, dim: Dims, correction: float | None, keepdim: bool) -> Array:
    return var_mean(self, dim, correction, keepdim)[0]


def std(self: Array, dim: Dims, correction: float | None, keepdim: bool) -> Array:
    return jnp.sqrt(var(self, dim, correction, keepdim))


def std_mean(self: Array, dim: Dims, correction: float | None, keepdim: bool) -> tuple[Array, Array]:
    variance, average = var_mean(self, dim, correction, keepdim)
    return jnp.sqrt(variance), average


def var_mean(self: Array, dim: Dims, correction: float | None, keepdim: bool) -> tuple[Array, Array]:
    """In two passes. A complex number varies by its distance from the mean."""
    average = mean(self, dim, True, None)
    deviation = self - average
    if jnp.iscomplexobj(self):
        squares = deviation.real**2 + deviation.imag**2
    else:
        squares = deviation * deviation
    freedom = max(_count(self, dim) - (1 if correction is None else correction), 0)
    variance = sum(squares, dim, keepdim, None) / freedom
    return variance, average if keepdim else average.reshape(variance.shape)


def vector_norm(self: Array, ord: float, dim: Dims, keepdim: bool, dtype: Any) -> Array:
    if dtype is not None:
        self = self.astype(dtype)
    size = jnp.abs(self)
    if ord == math.inf:
        return jnp.max(size, axis=dim, keepdims=keepdim)
    if ord == -math.inf:
        return jnp.min(size, axis=dim, keepdims=keepdim)
    if ord == 0:
        return jnp.sum((size != 0).astype(size.dtype), axis=dim, keepdims=keepdim)
    total = powsum(self, ord, dim, keepdim, None)
    return total if ord == 1 else jnp.sqrt(total) if ord == 2 else total ** (1 / ord)


def powsum(self: Array, ord: float, dim: Dims, keepdim: bool, dtype: Any) -> Array:
    """The sum of |x| ** ord: a norm before its root is taken. One that takes none is itself."""
    if ord in (math.inf, -math.inf, 0):
        return vector_norm(self, ord, dim, keepdim, dtype)
    size = jnp.abs(self if dtype is None else self.astype(dtype))
    powers = size if ord == 1 else size * size if ord == 2 else size**ord
    return jnp.sum(powers, axis=dim, keepdims=keepdim)


def norm(self: Array, p: float | None, dim: Dims, keepdim: bool) -> Array:
    return vector_norm(self, 2 if p is None else p, dim, keepdim, None)


def norm_dtype(self: Array, p: float | None, dim: Dims, keepdim: bool, dtype: Any) -> Array:
    return vector_norm(self, 2 if p is None else p, dim, keepdim, dtype)


def logsumexp(self: Array, dim: Dims, keepdim: bool) -> Array:
    return special.logsumexp(self, axis=dim, keepdims=keepdim)


def count_nonzero(self: Array, dim: Dims) -> Array:
    return jnp.sum(self.astype(bool), axis=dim, dtype=jnp.int64)


def trace(self: Array) -> Array:
    on_diagonal = lax.broadcasted_iota(jnp.int32, self.shape, 0) == lax.broadcasted_iota(jnp.int32, self.shape, 1)
    return jnp.sum(where(on_diagonal, self, 0), dtype=self.dtype)


def median_all(self: Array) -> Array:
    """The lower of the middle two; nan if there is one, or nothing at all."""
    flat = jnp.sort(self.ravel())
    if not flat.size:
        return jnp.full((), jnp.nan, self.dtype)
    middle = flat[(flat.size - 1) // 2]
    return jnp.where(jnp.isnan(flat[-1]), flat[-1], middle) if _inexact(self) else middle


def median(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The lower of the middle two and where it is; or the first nan."""
    values, order = sorting.sort(self, True, dim, False)
    if not self.ndim:
        return values, order
    middle = (self.shape[dim] - 1) // 2
    found = [lax.slice_in_dim(x, middle, middle + 1, axis=dim) for x in (values, order)]
    if _inexact(self):
        missing = jnp.isnan(self)
        first = jnp.argmax(missing, axis=dim, keepdims=True)
        any_missing = jnp.any(missing, axis=dim, keepdims=True)
        found = [where(any_missing, jnp.nan, found[0]), jnp.where(any_missing, first, found[1])]
    return tuple(x if keepdim else jnp.squeeze(x, dim) for x in found)


def nanmedian_all(self: Array) -> Array:
    flat = jnp.sort(self.ravel())
    if not flat.size or not _inexact(self):
        return median_all(self)
    return flat[_middle(jnp.sum(~jnp.isnan(flat), dtype=jnp.int32))]


def nanmedian(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The median of what is not nan, and where it is."""
    if not self.ndim or not _inexact(self):
        return median(self, dim, keepdim)
    if not self.shape[dim]:
        raise ValueError("the median of nothing")
    values, order = sorting.sort(self, True, dim, False)
    middle = _middle(jnp.sum(~jnp.isnan(self), axis=dim, keepdims=True, dtype=jnp.int32))
    found = (jnp.take_along_axis(x, middle, axis=dim) for x in (values, order))
    return tuple(x if keepdim else jnp.squeeze(x, dim) for x in found)


def mode(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The most frequent value, the least of several, and the last place where it is."""
    values, order = sorting.sort(self, True, dim, False)
    if not self.ndim:
        return values, order
    place = lax.broadcasted_iota(jnp.int32, self.shape, dim)
    continues = (values == jnp.roll(values, 1, axis=dim)) & (place > 0)
    start = lax.cummax(jnp.where(continues, 0, place), axis=dim)
    longest = jnp.argmax(place - start, axis=dim, keepdims=True)  # the end of the longest run
    found = (jnp.take_along_axis(x, longest, axis=dim) for x in (values, order))
    return tuple(x if keepdim else jnp.squeeze(x, dim) for x in found)


def hash_tensor(self: Array, dim: Dims, keepdim: bool, mode: int) -> Array:
    """The exclusive or of the elements' bits, as 64-bit numbers; there is no other mode."""
    del mode
    wide = self.astype(jnp.float64 if _inexact(self) else jnp.int64)
    bits = lax.bitcast_convert_type(wide, jnp.uint64)
    axes = dim if self.ndim else ()
    return lax.reduce(bits, np.uint64(0), lax.bitwise_xor, axes).reshape(_shape(self, dim, keepdim))


def _middle(count: Array) -> Array:
    return jnp.maximum(count - 1, 0) // 2


def _truth(fn: Callable, self: Array, dim: Dims, keepdim: bool) -> Array:
    result = fn(self.astype(bool), axis=dim if self.ndim else None, keepdims=keepdim)
    return result.astype(self.dtype) if self.dtype == jnp.uint8 else result  # torch's history


def _inexact(x: Array) -> bool:
    return jnp.issubdtype(x.dtype, jnp.inexact)


def _count(x: Array, dim: tuple[int, ...] | None) -> int:
    return math.prod(x.shape) if dim is None else math.prod(x.shape[axis] for axis in dim)


def _vector(x: Array) -> Array:
    """A 0-d array as a vector of one: torch reduces it along dim 0."""
    return x if x.ndim else x.reshape(1)


def _shape(x: Array, dim: Dims, keepdim: bool) -> tuple[int, ...]:
    """What reducing `x` along `dim` leaves."""
    axes = range(x.ndim) if dim is None else dim if isinstance(dim, tuple) else (dim,)
    return tuple(1 if axis in axes else n for axis, n in enumerate(x.shape) if keepdim or axis not in axes)


def renorm(self: Array, p: float, dim: int, maxnorm: Scalar) -> Array:
    """Scales the slices along `dim` whose norm is larger to `maxnorm`."""
    value = opmath(self)
    others = tuple(axis for axis in range(self.ndim) if axis != dim)
    norms = vector_norm(value, p, others, True, None)
    # torch's guard against a division by zero shows in the result.
    factor = where(norms > maxnorm, maxnorm / (norms + 1e-7), jnp.ones_like(norms))
    return (value * factor).astype(self.dtype)
