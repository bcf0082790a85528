"""Reading and writing at positions that arrays hold.

A position out of range makes the result void: see `checked`. Reads clamp such positions and writes drop them, so that
the program itself stays safe. Where torch counts negative positions from the end, `_in_range` wraps them; JAX does not.
"""

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.checked import Checked, checked
from torchtpu.lowerings.padded import Padded
from torchtpu.lowerings.promotion import Scalar, cast


def index(self: Array, indices: Sequence[Array | None]) -> Checked:
    """self[indices]: None keeps a dimension; indexed dimensions that are not neighbours move to the front."""
    where, ok = _wrapped(self, indices)
    if 0 in _indexed_sizes(self, indices):  # nothing to read: an empty result, or an error
        shape = jnp.broadcast_shapes(*(i.shape for i in indices if i is not None))
        rest = [n for n, i in zip(self.shape, _all(self, indices)) if i is None]
        return checked(jnp.zeros((*shape, *rest), self.dtype), ok)
    return checked(_read(self, where), ok)


def index_put(self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool) -> Checked:
    where, ok = _wrapped(self, indices)
    return checked(_write(self, where, values, "add" if accumulate else "set"), ok)


def index_put_impl(
    self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool, unsafe: bool
) -> Checked:
    del unsafe  # the check costs nothing here
    return index_put(self, indices, values, accumulate)


def gather(self: Array, dim: int, index: Array, sparse_grad: bool) -> Array | Checked:
    del sparse_grad
    if not index.size:  # of any rank
        return jnp.zeros(index.shape, self.dtype)
    where, ok = _along(self, dim, index)
    if not self.size:
        return checked(jnp.zeros(index.shape, self.dtype), ok)
    return checked(_read(_vector(self), where).reshape(index.shape), ok)


def scatter(self: Array, dim: int, index: Array, src: Array) -> Array | Checked:
    return _scatter(self, dim, index, src, "set")


def scatter_value(self: Array, dim: int, index: Array, value: Scalar) -> Array | Checked:
    return _scatter(self, dim, index, value, "set")


def scatter_add(self: Array, dim: int, index: Array, src: Array) -> Array | Checked:
    return _scatter(self, dim, index, src, "add")


def scatter_with(self: Array, dim: int, index: Array, src: Array, reduce: str) -> Array | Checked:
    return _scatter(self, dim, index, src, reduce)


def scatter_value_with(self: Array, dim: int, index: Array, value: Scalar, reduce: str) -> Array | Checked:
    return _scatter(self, dim, index, value, reduce)


def scatter_reduce(self: Array, dim: int, index: Array, src: Array, reduce: str, include_self: bool) -> Array | Checked:
    if not index.size:
        return self
    where, ok = _along(self, dim, index)
    source = _source(src, index)
    return checked(_reduce(_vector(self), where, source, reduce, include_self).reshape(self.shape), ok)


def index_select(self: Array, dim: int, index: Array) -> Checked:
    index, ok = _in_range(index, _vector(self).shape[dim])
    index = index.reshape(-1)
    if not self.ndim:
        return checked(self, ok)
    if not self.shape[dim]:
        return checked(jnp.zeros((*self.shape[:dim], index.size, *self.shape[dim + 1 :]), self.dtype), ok)
    return checked(jnp.take(self, index, axis=dim, mode="clip"), ok)


def index_add(self: Array, dim: int, index: Array, source: Array, alpha: Scalar) -> Checked:
    return _at_index(self, dim, index, source * lax.convert_element_type(alpha, source.dtype), "add")


def index_copy(self: Array, dim: int, index: Array, source: Array) -> Checked:
    return _at_index(self, dim, index, source, "set", wrap=True)


def index_fill(self: Array, dim: int, index: Array, value: Scalar) -> Checked:
    return _at_index(self, dim, index, cast(value, self.dtype), "set", wrap=True)


def index_reduce(self: Array, dim: int, index: Array, source: Array, reduce: str, include_self: bool) -> Checked:
    index, ok = _in_range(index, _vector(self).shape[dim])
    where = (*(slice(None),) * dim, index.reshape(-1))
    source = source.reshape(_rows(self, dim, index))
    return checked(_reduce(_vector(self), where, source, reduce, include_self).reshape(self.shape), ok)


def take(self: Array, index: Array) -> Checked:
    index, ok = _in_range(index, self.size, wrap=True)
    if not self.size:
        return checked(jnp.zeros(index.shape, self.dtype), ok)
    return checked(_read(self.reshape(-1), index), ok)


def put(self: Array, index: Array, source: Array, accumulate: bool) -> Checked:
    where, ok = _in_range(index, self.size, wrap=True)
    mode = "add" if accumulate else "set"
    return checked(_write(self.reshape(-1), (where,), source.reshape(index.shape), mode).reshape(self.shape), ok)


def masked_scatter(self: Array, mask: Array, source: Array) -> Checked:
    """The n-th true place of the mask takes the n-th element of `source`, which must hold enough of them."""
    shape = jnp.broadcast_shapes(self.shape, mask.shape)
    mask = jnp.broadcast_to(mask, shape)
    rank = jnp.cumsum(mask.reshape(-1), dtype=jnp.int32).reshape(shape)
    enough = jnp.max(rank, initial=0) <= source.size
    if not source.size:
        return checked(jnp.broadcast_to(self, shape), enough)
    picked = _read(source.reshape(-1), rank - 1)
    return checked(jnp.where(mask, picked, self), enough)


def nonzero(self: Array) -> Padded:
    """Positions, one a row."""
    found = jnp.nonzero(_vector(self), size=self.size, fill_value=0)
    rows = jnp.stack(found[: self.ndim], axis=1) if self.ndim else jnp.zeros((1, 0), jnp.int64)
    return Padded(rows.astype(jnp.int64), jnp.sum(self != 0, dtype=jnp.int32))


def nonzero_static(self: Array, size: int, fill_value: int) -> Array:
    """The first `size` positions, one a row; rows that are left are filled."""
    if not self.size or not self.ndim:
        return jnp.full((size, self.ndim), fill_value, jnp.int64)
    rows = jnp.stack(jnp.nonzero(self, size=size, fill_value=fill_value), axis=1)
    return rows.astype(jnp.int64)


def repeat_interleave(repeats: Array, size: int) -> Array:
    """Each position as often as `repeats` says, in a result of `size` places, the last of which may be left over."""
    return jnp.repeat(lax.iota(repeats.dtype, repeats.size), repeats, total_repeat_length=size)


def masked_select(self: Array, mask: Array) -> Padded:
    """The elements where `mask` is true."""
    self, mask = jnp.broadcast_arrays(self, mask)
    # Their order is kept: a stable sort by "not chosen".
    _, order = lax.sort((~mask.reshape(-1), lax.iota(jnp.int32, mask.size)), num_keys=1)
    return Padded(_read(self.reshape(-1), order), jnp.sum(mask, dtype=jnp.int32))


def _vector(x: Array) -> Array:
    """torch indexes a 0-d array as a vector of one."""
    return x if x.ndim else x.reshape(1)


def _in_range(index: Array, size: int, wrap: bool = False) -> tuple[Array, Array]:
    """`index` ready for use, and whether all of it lies in [0, size), or [-size, size) if it wraps."""
    if index.dtype.itemsize < 4:
        index = index.astype(jnp.int32)
    ok = jnp.all((index >= (-size if wrap else 0)) & (index < size))
    if size < 2**31:
        index = index.astype(jnp.int32)  # torch's int64 positions are slow on a TPU
    return (jnp.where(index < 0, index + size, index) if wrap else index), ok


def _all(self: Array, indices: Sequence[Array | None]) -> list[Array | None]:
    return [*indices, *[None] * (self.ndim - len(indices))]


def _indexed_sizes(self: Array, indices: Sequence[Array | None]) -> list[int]:
    return [n for n, i in zip(self.shape, indices) if i is not None]


def _wrapped(self: Array, indices: Sequence[Array | None]) -> tuple[tuple, Array]:
    """A numpy index for torch's list of indices, and whether every position exists."""
    where, ok = [], jnp.array(True)
    for size, positions in zip(self.shape, indices):
        if positions is None:
            where.append(slice(None))
            continue
        positions, fits = _in_range(positions, size, wrap=True)
        where.append(positions)
        ok &= fits
    return tuple(where), ok


def _along(self: Array, dim: int, index: Array) -> tuple[tuple, Array]:
    """A numpy index that moves along `dim` by `index` and stays in place elsewhere, and whether it is in range."""
    index = _vector(index)
    places = [lax.broadcasted_iota(jnp.int32, index.shape, axis) for axis in range(index.ndim)]
    places[dim], ok = _in_range(index, _vector(self).shape[dim])
    return tuple(places), ok


def _source(src: Scalar, index: Array) -> Scalar:
    """The corner of `src` that `index` covers; a number serves every place."""
    if not jnp.ndim(src):
        return src
    return src[tuple(slice(0, n) for n in _vector(index).shape)]


def _scatter(self: Array, dim: int, index: Array, src: Scalar, how: str) -> Array | Checked:
    if not index.size:  # of any rank
        return self
    where, ok = _along(self, dim, index)
    source = cast(_source(src, index), self.dtype)
    return checked(_write(_vector(self), where, source, how).reshape(self.shape), ok)


def _at_index(self: Array, dim: int, index: Array, source: Scalar, how: str, wrap: bool = False) -> Checked:
    """Writes `source` to the slices of `self` at the positions `index` along `dim`."""
    index, ok = _in_range(index, _vector(self).shape[dim], wrap)
    where = (*(slice(None),) * dim, index.reshape(-1))
    if jnp.ndim(source):
        source = source.reshape(_rows(self, dim, index))
    return checked(_write(_vector(self), where, source, how).reshape(self.shape), ok)


def _rows(self: Array, dim: int, index: Array) -> tuple[int, ...]:
    shape = _vector(self).shape
    return (*shape[:dim], index.size, *shape[dim + 1 :])


def _read(self: Array, where: tuple) -> Array:
    return self.at[where].get(mode="clip", wrap_negative_indices=False)


def _write(self: Array, where: tuple, source: Scalar, how: str) -> Array:
    """self[where] = source, or the reduction `how` of both; out-of-range positions are dropped."""
    target = self.at[where]
    if self.dtype == jnp.bool_:  # a sum of truth values is `or`, a product `and`
        how = {"add": "amax", "sum": "amax", "multiply": "amin", "prod": "amin"}.get(how, how)
    write = {
        "set": target.set,
        "add": target.add,
        "sum": target.add,
        "multiply": target.multiply,
        "prod": target.multiply,
        "amax": target.max,
        "amin": target.min,
    }[how]
    return write(source, mode="drop", wrap_negative_indices=False)


def _reduce(self: Array, where: tuple, source: Array, reduce: str, include_self: bool) -> Array:
    """scatter_reduce and index_reduce: places that nothing reaches keep their value."""
    ones = jnp.broadcast_to(jnp.ones((), jnp.int32), _read(self, where).shape)
    count = jnp.zeros(self.shape, jnp.int32).at[where].add(ones, mode="drop", wrap_negative_indices=False)
    start = self if include_self else jnp.where(count > 0, _neutral(reduce, self.dtype), self)
    how = "sum" if reduce == "mean" else reduce
    result = _write(start, where, source, how)
    if reduce != "mean":
        return result
    count = jnp.maximum(count + int(include_self), 1)
    if jnp.issubdtype(self.dtype, jnp.integer):
        return jnp.floor_divide(result, count.astype(self.dtype))
    return result / count.astype(self.dtype)


def _neutral(reduce: str, dtype: Any) -> Array:
    if reduce in ("sum", "mean"):
        return jnp.zeros((), dtype)
    if reduce == "prod":
        return jnp.ones((), dtype)
    if jnp.issubdtype(dtype, jnp.floating):
        limits = (-math.inf, math.inf)
    elif dtype == jnp.bool_:
        limits = (False, True)
    else:
        limits = (jnp.iinfo(dtype).min, jnp.iinfo(dtype).max)
    return jnp.array(limits[0] if reduce == "amax" else limits[1], dtype)
