"""The exponential of a matrix: a Taylor polynomial of the matrix halved until it is small, and squared as often."""

import math

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.lapack import eye_like, real_dtype

# A norm of 1 leaves a remainder of 1 / 19!, which is less than float64 resolves, and one of 2 less than float32 does.
_DEGREE = 18
_BLOCK = 4


def matrix_exp(self: Array) -> Array:
    if self.size == 0:
        return self
    norm = jnp.max(jnp.sum(jnp.abs(self), axis=-2), axis=-1)
    _, exponent = jnp.frexp(jnp.where(jnp.isfinite(norm), norm, 1))
    halvings = jnp.maximum(exponent if norm.dtype == jnp.float64 else exponent - 1, 0)
    result = _taylor(self * jnp.ldexp(jnp.ones((), real_dtype(self.dtype)), -halvings)[..., None, None])

    def square(state: tuple[Array, Array]) -> tuple[Array, Array]:
        done, value = state
        return done + 1, jnp.where((done < halvings)[..., None, None], value @ value, value)

    return lax.while_loop(lambda state: jnp.any(state[0] < halvings), square, (jnp.zeros((), jnp.int32), result))[1]


def _taylor(matrix: Array) -> Array:
    """Horner's rule in the fourth power, whose coefficients are polynomials of degree three."""
    powers = [eye_like(matrix, matrix.shape[-1]), matrix]
    for _ in range(_BLOCK - 1):
        powers.append(powers[-1] @ matrix)
    total = jnp.zeros_like(matrix)
    for first in reversed(range(0, _DEGREE + 1, _BLOCK)):
        degrees = range(first, min(first + _BLOCK, _DEGREE + 1))
        block = sum(power * (1 / math.factorial(degree)) for degree, power in zip(degrees, powers))
        total = block + (total @ powers[_BLOCK] if first + _BLOCK <= _DEGREE else 0)
    return total


def linear_combination(input: Array, coefficients: Array) -> Array:
    """Sums of the tensors in `input`, with a row of factors each."""
    return jnp.tensordot(coefficients, input, axes=1).astype(input.dtype)
