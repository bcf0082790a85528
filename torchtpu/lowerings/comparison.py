"""Comparisons that need more than a jnp function."""

import jax.numpy as jnp


def isin(elements, test_elements, assume_unique, invert):
    del assume_unique
    return jnp.any(elements[..., None] == test_elements.reshape(-1), axis=-1) != invert
