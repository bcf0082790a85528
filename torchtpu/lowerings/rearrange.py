"""Moving elements between channels and space."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings.opmath import opmath
from torchtpu.lowerings.pooling import Windows


def pixel_shuffle(self: Array, upscale_factor: int) -> Array:
    """(*, channels * r * r, height, width) to (*, channels, height * r, width * r)."""
    r, (channels, height, width) = upscale_factor, self.shape[-3:]
    split = self.reshape(*self.shape[:-3], channels // r**2, r, r, height, width)
    moved = jnp.moveaxis(split, (-4, -3), (-3, -1))
    return moved.reshape(*self.shape[:-3], channels // r**2, height * r, width * r)


def pixel_unshuffle(self: Array, downscale_factor: int) -> Array:
    r, (channels, height, width) = downscale_factor, self.shape[-3:]
    split = self.reshape(*self.shape[:-3], channels, height // r, r, width // r, r)
    moved = jnp.moveaxis(split, (-3, -1), (-4, -3))
    return moved.reshape(*self.shape[:-3], channels * r**2, height // r, width // r)


def channel_shuffle(self: Array, groups: int) -> Array:
    split = self.reshape(self.shape[0], groups, self.shape[1] // groups, *self.shape[2:])
    return split.swapaxes(1, 2).reshape(self.shape)


def im2col(
    self: Array,
    kernel_size: tuple[int, ...],
    dilation: tuple[int, ...],
    padding: tuple[int, ...],
    stride: tuple[int, ...],
) -> Array:
    """(*, channels, height, width) to (*, channels * window, positions of the window)."""
    columns = [self]
    for axis, *numbers in zip((-2, -1), kernel_size, stride, padding, dilation, strict=True):
        windows = Windows(axis, self.shape[axis], *numbers, ceil_mode=False)
        columns = [tap for column in columns for tap in windows.taps(column, 0)]
    stacked = jnp.stack(columns, -3)
    count = stacked.shape[-2] * stacked.shape[-1]
    return stacked.reshape(*self.shape[:-3], self.shape[-3] * len(columns), count)


def col2im(
    self: Array,
    output_size: tuple[int, ...],
    kernel_size: tuple[int, ...],
    dilation: tuple[int, ...],
    padding: tuple[int, ...],
    stride: tuple[int, ...],
) -> Array:
    """The adjoint of im2col: where windows overlap, they add up."""
    columns = opmath(self)
    channels = self.shape[-2] // (kernel_size[0] * kernel_size[1])
    image = jax.ShapeDtypeStruct((*self.shape[:-2], channels, *output_size), columns.dtype)
    spread = partial(im2col, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)
    return jax.linear_transpose(spread, image)(columns)[0].astype(self.dtype)
