"""Reading and writing strided views of row-major arrays, inside the program of the op that uses them (design D4).

A view is described by csrc/views: the base, reshaped to segments, of which each dimension of the view is a strided slice.
Elements of complex32 are words in memory, and complex64 to those that read and write them: the two halves in float32.
"""

import math
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jax import Array, lax


@dataclass(frozen=True)
class Segment:
    """One dimension of the reshaped base; `view_dim` is None where the view takes one position."""

    size: int
    extent: int
    step: int
    view_dim: int | None

    @property
    def has_start(self) -> bool:
        return self.extent < self.size


@dataclass(frozen=True)
class View:
    """A tensor argument over its base.

    sizes, strides, dtype: of the tensor, in elements of its dtype.
    held: the dtype of its elements in memory.
    segments: None when the view is read by gather and written by scatter.
    whole: the view is its base.
    """

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype
    held: np.dtype
    base_sizes: tuple[int, ...]
    base_dtype: np.dtype
    whole: bool
    segments: tuple[Segment, ...] | None
    conj: bool = False
    neg: bool = False

    def starts_at(self, offset: int) -> list[Array]:
        """The starts of the view at a storage offset that is known while tracing; csrc/views computes them on a hit."""
        if self.segments is None:
            return [jnp.int32(offset)] if self.num_starts else []
        starts, stride = [], math.prod(segment.size for segment in self.segments)
        for segment in self.segments:
            stride //= segment.size
            if segment.has_start:
                starts.append(jnp.int32(offset // stride % segment.size))
        return starts

    @property
    def empty(self) -> bool:
        return 0 in self.sizes

    @property
    def num_starts(self) -> int:
        """How many run-time starts the view takes from the operand buffer."""
        if self.whole or self.empty:
            return 0
        return 1 if self.segments is None else sum(segment.has_start for segment in self.segments)


def read(view: View, base: Array, starts: list[Array]) -> Array:
    """The view's elements: shape `view.sizes`, dtype `view.dtype`."""
    if view.empty:
        return jnp.zeros(view.sizes, view.dtype)
    if view.whole:
        values = base
    else:
        memory = _reinterpret(base, view.held)
        if view.segments is None:
            values = memory.reshape(-1)[_positions(view, starts[0])]
        else:
            values = _to_view(view, _block(view, memory, starts))
    values = decode(values, view.dtype)
    if view.conj:
        values = jnp.conj(values)
    return -values if view.neg else values


def write(view: View, base: Array, starts: list[Array], values: Array) -> Array:
    """The base with the view's elements replaced by `values`, which have the view's shape and dtype."""
    if view.empty:
        return base
    if view.neg:
        values = -values
    if view.conj:
        values = jnp.conj(values)
    values = encode(values, view.held)
    if view.whole:
        return values
    if view.segments is not None and _covers(view):
        return _restore(view, _from_view(view, values), base)
    memory = _reinterpret(base, view.held)
    if view.segments is None:
        flat = memory.reshape(-1)
        updated = flat.at[_positions(view, starts[0]).reshape(-1)].set(values.reshape(-1))
    else:
        updated = _replace_block(view, memory, starts, _from_view(view, values))
    return _restore(view, updated, base)


def decode(values: Array, dtype: np.dtype) -> Array:
    """Elements as they are held in memory, in the dtype that is computed in."""
    if values.dtype == dtype:
        return values
    halves = lax.bitcast_convert_type(values, jnp.float16).astype(jnp.float32)
    return lax.complex(halves[..., 0], halves[..., 1])


def encode(values: Array, held: np.dtype) -> Array:
    """The inverse of decode, rounded to halves."""
    if values.dtype == held:
        return values
    halves = jnp.stack([values.real, values.imag], -1).astype(jnp.float16)
    return lax.bitcast_convert_type(halves, held)


def _covers(view: View) -> bool:
    """True when every element of the base belongs to the view, so that the old value does not matter."""
    covered = all(segment.extent == segment.size and segment.step == 1 for segment in view.segments)
    return covered and math.prod(view.base_sizes) * view.base_dtype.itemsize == math.prod(view.sizes) * view.held.itemsize


def _block(view: View, memory: Array, starts: list[Array]) -> Array:
    """The slice of the segments that the view runs over: its size in each is the view's, or 1."""
    block = memory.reshape([segment.size for segment in view.segments])
    if starts:
        block = lax.dynamic_slice(block, _all_starts(view, starts), [segment.extent for segment in view.segments])
    if any(segment.step > 1 for segment in view.segments):
        block = lax.slice(block, [0] * block.ndim, block.shape, [segment.step for segment in view.segments])
    return block


def _replace_block(view: View, memory: Array, starts: list[Array], block: Array) -> Array:
    segments = memory.reshape([segment.size for segment in view.segments])
    positions = _all_starts(view, starts)
    if any(segment.step > 1 for segment in view.segments):
        # The elements between the steps stay: spread the new ones, and choose.
        extents = [segment.extent for segment in view.segments]
        spread = [(0, 0, segment.step - 1) for segment in view.segments]
        chosen = lax.pad(jnp.ones(block.shape, jnp.bool_), False, spread)
        old = lax.dynamic_slice(segments, positions, extents)
        block = jnp.where(chosen, lax.pad(block, jnp.zeros((), block.dtype), spread), old)
    return lax.dynamic_update_slice(segments, block, positions)


def _all_starts(view: View, starts: list[Array]) -> list[Array]:
    given = iter(starts)
    zero = jnp.zeros((), starts[0].dtype if starts else jnp.int32)
    return [next(given) if segment.has_start else zero for segment in view.segments]


def _order(view: View) -> list[int]:
    """The dimensions of the view that have a segment, in the segments' order."""
    return [segment.view_dim for segment in view.segments if segment.view_dim is not None]


def _to_view(view: View, block: Array) -> Array:
    """From the segments' order to the view's: squeeze, transpose, and broadcast what has no segment."""
    order = _order(view)
    squeezed = block.reshape([view.sizes[dim] for dim in order])
    ordered = squeezed.transpose(np.argsort(order))
    return lax.broadcast_in_dim(ordered, view.sizes, sorted(order))


def _from_view(view: View, values: Array) -> Array:
    """The inverse of _to_view, for a view that does not overlap itself: dimensions without a segment have size one."""
    order = _order(view)
    squeezed = values.reshape([view.sizes[dim] for dim in sorted(order)])
    transposed = squeezed.transpose(np.argsort(np.argsort(order)))
    return transposed.reshape([1 if s.view_dim is None else view.sizes[s.view_dim] for s in view.segments])


def _positions(view: View, offset: Array) -> Array:
    """The position in flat memory of every element of the view."""
    positions = jnp.full(view.sizes, offset)
    for dim, (size, stride) in enumerate(zip(view.sizes, view.strides)):
        if size > 1 and stride:
            positions += stride * lax.broadcasted_iota(offset.dtype, view.sizes, dim)
    return positions


def _reinterpret(base: Array, dtype: np.dtype) -> Array:
    """The same memory in elements of another dtype; the last dimension grows or shrinks, or all is flat if it cannot."""
    if base.dtype == dtype:
        return base
    if base.ndim == 0:
        base = base.reshape(1)
    if jnp.issubdtype(base.dtype, jnp.complexfloating):
        base = jnp.stack([base.real, base.imag], -1).reshape(*base.shape[:-1], -1)
    elif base.dtype == jnp.bool_:
        base = base.astype(jnp.uint8)
    if dtype == jnp.bool_:
        return _bitcast(base, np.dtype(np.uint8)) != 0
    if jnp.issubdtype(dtype, jnp.complexfloating):
        parts = _bitcast(base, np.dtype(f"f{dtype.itemsize // 2}"))
        parts = parts.reshape(*parts.shape[:-1], -1, 2) if parts.shape[-1] % 2 == 0 else _pairs(parts)
        return lax.complex(parts[..., 0], parts[..., 1])
    return _bitcast(base, dtype)


def _pairs(parts: Array) -> Array:
    flat = parts.reshape(-1)
    return flat[: flat.size // 2 * 2].reshape(-1, 2)


def _bitcast(base: Array, dtype: np.dtype) -> Array:
    if base.dtype.itemsize < dtype.itemsize:
        ratio = dtype.itemsize // base.dtype.itemsize
        if base.shape[-1] % ratio:
            base = base.reshape(-1)
            base = base[: base.size // ratio * ratio]  # a rest that fills no element is beyond every view
        return lax.bitcast_convert_type(base.reshape(*base.shape[:-1], -1, ratio), dtype)
    values = lax.bitcast_convert_type(base, dtype)
    return values if base.dtype.itemsize == dtype.itemsize else values.reshape(*base.shape[:-1], -1)


def _restore(view: View, memory: Array, base: Array) -> Array:
    """The inverse of _reinterpret: memory in the shape and dtype of the base."""
    if memory.dtype != view.base_dtype:
        memory = _reinterpret(memory.reshape(-1), view.base_dtype)
    missing = math.prod(view.base_sizes) - memory.size
    if missing:
        memory = jnp.concatenate([memory.reshape(-1), base.reshape(-1)[-missing:]])
    return memory.reshape(view.base_sizes)
