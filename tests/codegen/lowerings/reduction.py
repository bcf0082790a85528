"""Sums, one of which forgets an argument."""

import jax.numpy as jnp


def sum(self, dim, keepdim, dtype):
    return jnp.sum(self, dim, keepdims=keepdim)


def sum_without_dtype(self, dim, keepdim):
    return jnp.sum(self, dim, keepdims=keepdim)


def sum_along(self, dim, keepdim, dtype, axis):
    return jnp.sum(self, axis, keepdims=keepdim)


def sum_flat(self, dim, keepdim, dtype):
    return jnp.sum(self)
