"""Running reductions along one dimension. A 0-d array is scanned as a vector of one."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.arithmetic import logaddexp
from torchtpu.lowerings.promotion import where


def cumsum(self: Array, dim: int, dtype: Any) -> Array:
    del dtype  # already the computation dtype
    return _along(lambda x: jnp.cumsum(x, axis=dim, dtype=x.dtype), self)


def cumprod(self: Array, dim: int, dtype: Any) -> Array:
    del dtype
    return _along(lambda x: jnp.cumprod(x, axis=dim, dtype=x.dtype), self)


def logcumsumexp(self: Array, dim: int) -> Array:
    if jnp.iscomplexobj(self):
        return _along(lambda x: lax.associative_scan(logaddexp, x, axis=dim), self)
    return _along(lambda x: lax.cumlogsumexp(x, axis=dim), self)


def cummax(self: Array, dim: int) -> tuple[Array, Array]:
    return _running_extreme(lax.cummax, self, dim)


def cummin(self: Array, dim: int) -> tuple[Array, Array]:
    return _running_extreme(lax.cummin, self, dim)


def cummax_into(self: Array, values: Array, indices: Array, dim: int) -> tuple[Array, Array]:
    del values, indices  # they are overwritten
    return cummax(self, dim)


def cummin_into(self: Array, values: Array, indices: Array, dim: int) -> tuple[Array, Array]:
    del values, indices
    return cummin(self, dim)


def _running_extreme(scan: Callable, self: Array, dim: int) -> tuple[Array, Array]:
    """The extreme so far and the last index that reached it: a new record, an equal one, or any nan."""
    if self.dtype == jnp.bool_:  # JAX scans no truth values
        values, latest = _running_extreme(scan, self.astype(jnp.uint8), dim)
        return values.astype(jnp.bool_), latest
    values = _along(lambda x: scan(x, axis=dim), self)
    record = self == values
    if jnp.issubdtype(self.dtype, jnp.inexact):
        record |= jnp.isnan(self)
    index = _along(lambda x: lax.broadcasted_iota(jnp.int32, x.shape, dim), self)
    latest = _along(lambda x: lax.cummax(x, axis=dim), where(record, index, 0))
    return values, latest.astype(jnp.int64)


def _along(fn: Callable, x: Array) -> Array:
    return fn(x) if x.ndim else fn(x.reshape(1)).reshape(())
