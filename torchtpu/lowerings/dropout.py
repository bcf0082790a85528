"""Dropout with the mask as an output, for the backward."""

import jax
import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings.opmath import opmath
from torchtpu.lowerings.promotion import cast


def native_dropout(key: Array, input: Array, p: Array, train: bool | None) -> tuple[Array, Array]:
    """`train` absent means training."""
    if train is False:
        return input, jnp.ones(input.shape, bool)
    keep = 1 - jnp.asarray(p, jnp.float32)
    mask = jax.random.bernoulli(key, keep, input.shape)
    scale = jnp.where(keep > 0, 1 / keep, 0)
    value = opmath(input)
    return (value * cast(mask, value.dtype) * scale).astype(input.dtype), mask
