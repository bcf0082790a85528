"""Moving elements around without computing."""

from collections.abc import Sequence
from functools import reduce

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.promotion import Scalar, cast


def cat(tensors: Sequence[Array], dim: int) -> Array:
    """Along `dim`, in the common dtype. Vectors of length 0 fit everywhere: torch's history."""
    dtype = reduce(jnp.promote_types, (tensor.dtype for tensor in tensors))
    pieces = [tensor for tensor in tensors if tensor.shape != (0,)]
    return jnp.concatenate([cast(piece, dtype) for piece in pieces], axis=dim) if pieces else cast(tensors[0], dtype)


def stack(tensors: Sequence[Array], dim: int) -> Array:
    dtype = reduce(jnp.promote_types, (tensor.dtype for tensor in tensors))
    return jnp.stack([cast(tensor, dtype) for tensor in tensors], axis=dim)


def flip(self: Array, dims: Sequence[int]) -> Array:
    return lax.rev(self, [dim % self.ndim for dim in dims]) if self.ndim else self


def roll(self: Array, shifts: Sequence[int], dims: Sequence[int]) -> Array:
    """Without dims, the elements move in memory order."""
    return jnp.roll(self, shifts, axis=dims) if dims else jnp.roll(self, shifts[0])


def constant_pad_nd(self: Array, pad: Sequence[int], value: Scalar) -> Array:
    """`pad` counts from the last dimension; a negative number crops."""
    widths = [(low, high, 0) for low, high in zip(pad[::2], pad[1::2])][::-1]
    unpadded = [(0, 0, 0)] * (self.ndim - len(widths))
    return lax.pad(self, cast(value, self.dtype), unpadded + widths)


def unfold_backward(grad_in: Array, input_sizes: Sequence[int], dim: int, size: int, step: int) -> Array:
    """Adds every window back where it was cut: windows are the last dimension of `grad_in`."""
    if not input_sizes:
        return grad_in.sum()  # of at most one element
    dim %= len(input_sizes)
    windows = jnp.moveaxis(grad_in, -1, dim + 1)
    position = (jnp.arange(windows.shape[dim], dtype=jnp.int32) * step)[:, None] + jnp.arange(size, dtype=jnp.int32)
    before = (slice(None),) * dim
    return jnp.zeros(input_sizes, grad_in.dtype).at[(*before, position)].add(windows)
