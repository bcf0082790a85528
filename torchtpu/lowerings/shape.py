"""Moving elements around without computing."""

from functools import reduce

import jax.numpy as jnp
from jax import lax

from torchtpu.lowerings.promotion import cast


def cat(tensors, dim):
    """Along `dim`, in the common dtype. Vectors of length 0 fit everywhere: torch's history."""
    dtype = reduce(jnp.promote_types, (tensor.dtype for tensor in tensors))
    pieces = [tensor for tensor in tensors if tensor.shape != (0,)] or tensors[:1]
    return jnp.concatenate([cast(piece, dtype) for piece in pieces], axis=dim)


def stack(tensors, dim):
    dtype = reduce(jnp.promote_types, (tensor.dtype for tensor in tensors))
    return jnp.stack([cast(tensor, dtype) for tensor in tensors], axis=dim)


def flip(self, dims):
    return lax.rev(self, [dim % self.ndim for dim in dims]) if self.ndim else self


def roll(self, shifts, dims):
    """Without dims, the elements move in memory order."""
    return jnp.roll(self, shifts, axis=dims) if dims else jnp.roll(self, shifts[0])


def constant_pad_nd(self, pad, value):
    """`pad` counts from the last dimension; a negative number crops."""
    widths = [(low, high, 0) for low, high in zip(pad[::2], pad[1::2])][::-1]
    unpadded = [(0, 0, 0)] * (self.ndim - len(widths))
    return lax.pad(self, cast(value, self.dtype), unpadded + widths)


def unfold_backward(grad_in, input_sizes, dim, size, step):
    """Adds every window back where it was cut: windows are the last dimension of `grad_in`."""
    dim = dim % len(input_sizes) if input_sizes else 0
    windows = jnp.moveaxis(grad_in, -1, dim + 1)
    position = (jnp.arange(windows.shape[dim], dtype=jnp.int32) * step)[:, None] + jnp.arange(size, dtype=jnp.int32)
    before = (slice(None),) * dim
    return jnp.zeros(input_sizes, grad_in.dtype).at[(*before, position)].add(windows)
