"""Order. nan is the greatest; equal elements keep their order, so that indices are the same on every run."""

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from torchtpu.lowerings.promotion import Scalar, cast


def sort(self: Array, stable: bool | None, dim: int, descending: bool) -> tuple[Array, Array]:
    del stable  # always
    if not self.ndim:
        return self, jnp.zeros((), jnp.int64)
    index = lax.broadcasted_iota(jnp.int32, self.shape, dim)
    values, order = self, index
    if descending:  # backwards there and back, or equal elements would end up backwards
        values, order = lax.rev(values, [dim]), lax.rev(order, [dim])
    values, order = lax.sort((values, order), dimension=dim, num_keys=1)
    if descending:
        values, order = lax.rev(values, [dim]), lax.rev(order, [dim])
    return values, order.astype(jnp.int64)


def topk(self: Array, k: int, dim: int, largest: bool, sorted: bool) -> tuple[Array, Array]:
    del sorted  # always
    values, order = sort(self, True, dim, largest)
    if not self.ndim:
        return values, order
    return lax.slice_in_dim(values, 0, k, axis=dim), lax.slice_in_dim(order, 0, k, axis=dim)


def kthvalue(self: Array, k: int, dim: int, keepdim: bool) -> tuple[Array, Array]:
    values, order = sort(self, True, dim, False)
    if not self.ndim:
        return values, order
    pick = lax.slice_in_dim if keepdim else lambda x, start, end, axis: lax.index_in_dim(x, start, axis, keepdims=False)
    return pick(values, k - 1, k, axis=dim), pick(order, k - 1, k, axis=dim)


def searchsorted(
    sorted_sequence: Array, self: Array, out_int32: bool, right: bool, side: str | None, sorter: Array | None
) -> Array:
    """Where each value goes in the row that it faces; a single row serves all values."""
    if sorter is not None:
        sorted_sequence = jnp.take_along_axis(sorted_sequence, sorter, axis=-1)
    after = right or side == "right"
    length = sorted_sequence.shape[-1]
    rows = sorted_sequence.reshape(-1, length) if sorted_sequence.size else jnp.zeros((1, 0), sorted_sequence.dtype)
    values = self.reshape(rows.shape[0], -1 if self.size else 0)
    passes = jnp.greater if after else jnp.greater_equal

    def halve(_, bounds):
        low, high = bounds
        middle = (low + high) >> 1
        # ~(a >= b) and not a < b: a nan goes to the end.
        right = ~passes(jnp.take_along_axis(rows, middle, axis=1, mode="clip"), values) & (low < high)
        return jnp.where(right, middle + 1, low), jnp.where(right, high, middle)

    bounds = jnp.zeros(values.shape, jnp.int32), jnp.full(values.shape, length, jnp.int32)
    place, _ = lax.fori_loop(np.int32(0), np.int32(length.bit_length()), halve, bounds) if length else bounds
    return place.reshape(self.shape).astype(jnp.int32 if out_int32 else jnp.int64)


def searchsorted_scalar(
    sorted_sequence: Array, self: Scalar, out_int32: bool, right: bool, side: str | None, sorter: Array | None
) -> Array:
    if sorted_sequence.ndim != 1:
        raise ValueError(f"a number has no place in {sorted_sequence.ndim} dimensions")
    return searchsorted(sorted_sequence, cast(self, sorted_sequence.dtype), out_int32, right, side, sorter)


def bucketize(self: Array, boundaries: Array, out_int32: bool, right: bool) -> Array:
    if boundaries.ndim != 1:
        raise ValueError(f"boundaries have one dimension, not {boundaries.ndim}")
    return searchsorted(boundaries, self, out_int32, right, None, None)


def bucketize_scalar(self: Scalar, boundaries: Array, out_int32: bool, right: bool) -> Array:
    return bucketize(cast(self, boundaries.dtype), boundaries, out_int32, right)
