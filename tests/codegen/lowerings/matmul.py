"""Products of matrices."""

import jax.numpy as jnp


def mm(self, mat2):
    return jnp.matmul(self, mat2)


def mm_in_float64(self, mat2):
    return jnp.matmul(self.astype(jnp.float64), mat2)


def mm_that_raises(self, mat2):
    raise ValueError("no such product")
