"""Moving elements between channels and space."""

import jax.numpy as jnp
from jax import Array


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
