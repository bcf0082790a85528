"""Dropout with the mask as an output, for the backward."""

import jax
import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings.opmath import opmath


def native_dropout(key: Array, input: Array, p: Array, train: bool | None) -> tuple[Array, Array]:
    """`train` absent means training."""
    if train is False:
        return input, jnp.ones(input.shape, bool)
    keep = 1 - jnp.asarray(p, jnp.float32)
    mask = jax.random.bernoulli(key, keep, input.shape)
    scale = jnp.where(keep > 0, 1 / keep, 0)
    return (opmath(input) * mask * scale).astype(input.dtype), mask
