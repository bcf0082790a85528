"""Fourier transforms over any dimensions. normalization: 0 none, 1 by the root of the size, 2 by it."""

import math

import jax.numpy as jnp
from jax import Array, lax
from jax.lax import FftType

from torchtpu.lowerings.lapack import real_dtype

_MOST_DIMS = 3  # that XLA transforms at once


def c2c(self: Array, dim: tuple[int, ...], normalization: int, forward: bool) -> Array:
    sizes = [self.shape[each] for each in dim]
    for at in range(0, len(dim), _MOST_DIMS):
        some = slice(at, at + _MOST_DIMS)
        self = _transform(self, dim[some], FftType.FFT if forward else FftType.IFFT, sizes[some])
    return _scaled(self, sizes, normalization, divided=0 if forward else len(dim))


def r2c(self: Array, dim: tuple[int, ...], normalization: int, onesided: bool) -> Array:
    if not onesided:
        return c2c(lax.complex(self, jnp.zeros_like(self)), dim, normalization, True)
    *others, last = dim
    size = self.shape[last]
    half = _transform(self, (last,), FftType.RFFT, [size])
    return _scaled(c2c(half, tuple(others), 0, True), [size, *(self.shape[each] for each in others)], normalization)


def c2r(self: Array, dim: tuple[int, ...], normalization: int, last_dim_size: int) -> Array:
    *others, last = dim
    self = c2c(self, tuple(others), 0, False)
    self = lax.slice_in_dim(self, 0, last_dim_size // 2 + 1, axis=last)
    result = _transform(self, (last,), FftType.IRFFT, [last_dim_size])
    return _scaled(result, [last_dim_size, *(self.shape[each] for each in others)], normalization, divided=1)


def _transform(array: Array, dims: tuple[int, ...], kind: FftType, sizes: list[int]) -> Array:
    """sizes: those of the time domain."""
    if array.size == 0:
        shape, dtype = list(array.shape), array.dtype
        for dim, size in zip(dims, sizes):
            shape[dim] = size // 2 + 1 if kind is FftType.RFFT else size
        dtype = real_dtype(dtype) if kind is FftType.IRFFT else jnp.promote_types(dtype, jnp.complex64)
        return jnp.zeros(shape, dtype)
    places = tuple(range(-len(dims), 0))
    return jnp.moveaxis(lax.fft(jnp.moveaxis(array, dims, places), kind, tuple(sizes)), places, dims)


def _scaled(array: Array, sizes: list[int], normalization: int, divided: int = 0) -> Array:
    """XLA divides by the size on the way back: by the first `divided` of the sizes."""
    scale = math.prod(sizes[:divided]) * math.prod(sizes) ** -(normalization / 2) if 0 not in sizes else 1
    return array if scale == 1 else array * jnp.asarray(scale, real_dtype(array.dtype))
