"""Running reductions along one dimension. A 0-d array is scanned as a vector of one."""

import jax.numpy as jnp
from jax import lax

from torchtpu.lowerings.arithmetic import logaddexp
from torchtpu.lowerings.promotion import where


def cumsum(self, dim, dtype):
    del dtype  # already the computation dtype
    return _along(lambda x: jnp.cumsum(x, axis=dim, dtype=x.dtype), self)


def cumprod(self, dim, dtype):
    del dtype
    return _along(lambda x: jnp.cumprod(x, axis=dim, dtype=x.dtype), self)


def logcumsumexp(self, dim):
    if jnp.iscomplexobj(self):
        return _along(lambda x: lax.associative_scan(logaddexp, x, axis=dim), self)
    return _along(lambda x: lax.cumlogsumexp(x, axis=dim), self)


def cummax(self, dim):
    return _running_extreme(lax.cummax, self, dim)


def cummin(self, dim):
    return _running_extreme(lax.cummin, self, dim)


def _running_extreme(scan, self, dim):
    """The extreme so far and the last index that reached it: a new record, an equal one, or any nan."""
    if self.dtype == jnp.bool_:
        values, latest = _running_extreme(scan, self.astype(jnp.uint8), dim)
        return values.astype(jnp.bool_), latest
    ordered = self.astype(jnp.uint8) if self.dtype == jnp.bool_ else self  # JAX scans no truth values
    values = _along(lambda x: scan(x, axis=dim), ordered).astype(self.dtype)
    record = self == values
    if jnp.issubdtype(self.dtype, jnp.inexact):
        record |= jnp.isnan(self)
    index = _along(lambda x: lax.broadcasted_iota(jnp.int32, x.shape, dim), self)
    latest = _along(lambda x: lax.cummax(x, axis=dim), where(record, index, 0))
    return values, latest.astype(jnp.int64)


def _along(fn, x):
    return fn(x) if x.ndim else fn(x.reshape(1)).reshape(())
