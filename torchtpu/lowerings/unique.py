"""Distinct elements and rows, and where they are. Every nan is one of its own, since it differs from itself."""

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from torchtpu.lowerings.padded import Padded

Elements = tuple[Array | Padded, Array, Array | Padded]


def unique(self: Array, sorted: bool, return_inverse: bool) -> tuple[Array | Padded, Array]:
    return unique2(self, sorted, return_inverse, False)[:2]


def unique2(self: Array, sorted: bool, return_inverse: bool, return_counts: bool) -> Elements:
    """Ascending, whether asked for or not."""
    del sorted
    values, order = lax.sort((self.reshape(-1), lax.iota(jnp.int32, self.size)), num_keys=1)
    return _elements(values, order, self.shape, return_inverse, return_counts)


def unique_consecutive(self: Array, return_inverse: bool, return_counts: bool, dim: int | None) -> Elements:
    """Each run of equal elements once. ATen takes dim=0 of a vector for none at all, but not dim=-1."""
    if dim is None or (dim == 0 and self.ndim == 1):
        order = lax.iota(jnp.int32, self.size)
        return _elements(self.reshape(-1), order, self.shape, return_inverse, return_counts)
    return unique_dim_consecutive(self, dim, return_inverse, return_counts)


def unique_dim(self: Array, dim: int, sorted: bool, return_inverse: bool, return_counts: bool) -> Elements:
    """Slices along `dim` in lexicographic order; ATen returns where they are and how many without being asked."""
    del sorted, return_inverse, return_counts
    return _slices(self, dim, _lexicographic)


def unique_dim_consecutive(self: Array, dim: int, return_inverse: bool, return_counts: bool) -> Elements:
    del return_inverse, return_counts
    return _slices(self, dim, lambda rows: lax.iota(jnp.int32, rows.shape[0]))


def _elements(
    values: Array, order: Array, shape: tuple[int, ...], return_inverse: bool, return_counts: bool
) -> Elements:
    """Of `values`, in which equal ones are neighbours; `order` says from where in `shape` each comes."""
    none = jnp.zeros(0, jnp.int64)
    if not values.size:
        return values, none.reshape(shape) if return_inverse else none, none
    number, firsts, lengths = _runs(values[1:] != values[:-1])
    count = number[-1] + 1
    inverse = jnp.zeros_like(lengths).at[order].set(number.astype(jnp.int64)).reshape(shape) if return_inverse else none
    return Padded(values[firsts], count), inverse, Padded(lengths, count) if return_counts else none


def _slices(self: Array, dim: int, order_of) -> Elements:
    if 0 in self.shape:
        if self.shape[dim] or self.shape.count(0) > 1:
            raise ValueError("there is nothing to compare")
        return self, jnp.zeros(0, jnp.int64), jnp.zeros(0, jnp.int64)
    slices = jnp.moveaxis(self, dim, 0)
    dim %= self.ndim
    rows = slices.reshape(slices.shape[0], -1)
    order = order_of(rows)
    ordered = rows[order]
    number, firsts, lengths = _runs(jnp.any(ordered[1:] != ordered[:-1], axis=1))
    count = number[-1] + 1
    values = jnp.moveaxis(slices[order[firsts]], 0, dim)
    inverse = jnp.zeros_like(lengths).at[order].set(number.astype(jnp.int64))
    return Padded(values, count, dim), inverse, Padded(lengths, count)


def _runs(changes: Array) -> tuple[Array, Array, Array]:
    """From whether each element but the first differs from the one before it: the number of its run, and of each run its
    first element and its length, with room for as many runs as elements."""
    starts = jnp.concatenate([jnp.ones(1, bool), changes])
    number = jnp.cumsum(starts, dtype=jnp.int32) - 1
    size = starts.size
    room = jnp.zeros(size, jnp.int32)
    firsts = room.at[jnp.where(starts, number, size)].set(lax.iota(jnp.int32, size), mode="drop")
    return number, firsts, room.at[number].add(1).astype(jnp.int64)


def _lexicographic(rows: Array) -> Array:
    """The order of the rows by their first elements, then by their second ones, and so on.

    A nan is the greatest. The CPU finds it equal to everything, which is no order.
    """
    columns = rows.shape[1]

    def by_column(i: Array, order: Array) -> Array:
        # The last column first: each sort keeps the order of what it finds equal.
        column = lax.dynamic_index_in_dim(rows, columns - 1 - i, axis=1, keepdims=False)[order]
        return lax.sort((column, order), num_keys=1)[1]

    return lax.fori_loop(np.int32(0), np.int32(columns), by_column, lax.iota(jnp.int32, rows.shape[0]))
