"""Padding that continues the trailing axes. `padding` counts (before, after) from the last axis; negative crops."""

import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings.opmath import opmath


def reflection_pad(self: Array, padding: tuple[int, ...]) -> Array:
    return _pad(self, padding, "reflect")


def replication_pad(self: Array, padding: tuple[int, ...]) -> Array:
    return _pad(self, padding, "edge")


def _pad(self: Array, padding: tuple[int, ...], mode: str) -> Array:
    margins = [(0, 0)] * (self.ndim - len(padding) // 2) + list(zip(padding[::2], padding[1::2]))[::-1]
    # In computation dtype for the gradient, which adds up what was copied.
    padded = jnp.pad(opmath(self), [(max(before, 0), max(after, 0)) for before, after in margins], mode)
    crops = [(max(-before, 0), max(-after, 0)) for before, after in margins]
    inside = tuple(slice(first, size - last) for size, (first, last) in zip(padded.shape, crops))
    return padded[inside].astype(self.dtype)
