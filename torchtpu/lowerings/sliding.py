"""Sliding blocks of an image as columns (nn.Unfold), and what columns add up to (nn.Fold)."""

import math
from functools import partial

import jax
import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings.opmath import opmath
from torchtpu.lowerings.pooling import Windows

Pair = tuple[int, ...]  # (height, width), or a lone number for both


def im2col(self: Array, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Array:
    """(*, channels, height, width) to (*, channels * taps, blocks): a column for every block."""
    numbers = zip(*map(_pair, (kernel_size, stride, padding, dilation)), strict=True)
    height, width = self.ndim - 2, self.ndim - 1
    rows = Windows(height, self.shape[height], *next(numbers), ceil_mode=False)
    by_row = jnp.stack(rows.taps(self, 0), axis=height)
    # The taps of the rows have gone before the rows, which moved the width by one.
    columns = Windows(width + 1, self.shape[width], *next(numbers), ceil_mode=False)
    by_both = jnp.stack(columns.taps(by_row, 0), axis=width)
    channels = self.shape[-3] * rows.kernel * columns.kernel
    return by_both.reshape(*self.shape[:-3], channels, rows.count * columns.count)


def col2im(self: Array, output_size: Pair, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Array:
    """The transpose of im2col: blocks that overlap add up."""
    columns = opmath(self)
    channels = self.shape[-2] // math.prod(_pair(kernel_size))
    image = jax.ShapeDtypeStruct((*self.shape[:-2], channels, *_pair(output_size)), columns.dtype)
    unfold = partial(im2col, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)
    return jax.linear_transpose(unfold, image)(columns)[0].astype(self.dtype)


def _pair(numbers: Pair) -> Pair:
    return numbers * 2 if len(numbers) == 1 else numbers
