"""The precision in which ATen's kernels compute: half-precision inputs are widened, and results are rounded once."""

import jax.numpy as jnp
from jax import Array


def opmath_dtype(dtype: jnp.dtype) -> jnp.dtype:
    """The dtype in which values of `dtype` are computed: float32 for bfloat16 and float16, otherwise itself."""
    return jnp.dtype(jnp.float32) if dtype in (jnp.bfloat16, jnp.float16) else jnp.dtype(dtype)


def opmath(array: Array | None) -> Array | None:
    """`array` in the dtype in which it is computed; an absent optional stays absent."""
    return None if array is None else array.astype(opmath_dtype(array.dtype))
