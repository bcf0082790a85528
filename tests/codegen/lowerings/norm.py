"""Layer norm, from its arguments and from the statistics that torch saves."""

import jax.numpy as jnp
from jax import lax


def layer_norm(input, normalized_shape, weight, bias, eps):
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    mean = jnp.mean(input, axes, keepdims=True)
    rstd = lax.rsqrt(jnp.var(input, axes, keepdims=True) + eps)
    return (input - mean) * rstd * weight + bias, mean, rstd


def layer_norm_from_stats(input, normalized_shape, mean, rstd, weight, bias):
    return (input - mean) * rstd * weight + bias
