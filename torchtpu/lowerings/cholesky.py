"""The Cholesky factor of a positive-definite matrix, and what is computed from it."""

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings import lapack, triangular
from torchtpu.lowerings.checked import Checked, checked
from torchtpu.lowerings.creation import tril
from torchtpu.lowerings.lapack import diagonal, mh


def cholesky(self: Array, upper: bool) -> Checked:
    if self.size == 0:  # which need not be square
        return checked(self, jnp.array(True))
    factor, info = _factor(self, upper)
    return checked(factor, jnp.all(info == 0))


def cholesky_ex(self: Array, upper: bool, check_errors: bool) -> tuple[Array, Array] | Checked:
    """info: the order of the first leading minor that is not positive, or 0."""
    factor, info = _factor(self, upper)
    return checked((factor, info), jnp.all(info == 0)) if check_errors else (factor, info)


def inverse(self: Array, upper: bool) -> Checked:
    """The inverse of the matrix whose factor is `self`."""
    lower = mh(self) if upper else self
    halves = triangular.solve(lower, lapack.eye_like(self, self.shape[-1]), lower=True)
    singular = jnp.any(diagonal(self) == 0)
    return checked(mh(halves) @ halves, ~singular)


def solve(self: Array, A: Array, upper: bool) -> Array:
    """X of (matrix) X = self, where A is the matrix's factor."""
    half = triangular.solve(A, self, lower=not upper, transpose=upper, conjugate=upper)
    return triangular.solve(A, half, lower=not upper, transpose=not upper, conjugate=not upper)


def _factor(matrix: Array, upper: bool) -> tuple[Array, Array]:
    def by_lapack(matrix: Array) -> tuple[Array, Array]:
        factor, info = lapack.call("potrf", matrix, [(matrix.shape[-2:], matrix.dtype)], uplo="L")
        return tril(factor, 0), info

    def by_xla(matrix: Array) -> tuple[Array, Array]:
        """XLA says that there is no factor by nan, from the minor on that is not positive."""
        factor = lax.linalg.cholesky(matrix, symmetrize_input=False)
        failed = jnp.isnan(diagonal(factor))
        first = jnp.argmax(failed, axis=-1).astype(jnp.int32) + 1 if matrix.shape[-1] else 0
        return factor, jnp.where(jnp.any(failed, axis=-1), first, 0).astype(jnp.int32)

    factor, info = lapack.on_cpu(by_lapack, by_xla, mh(matrix) if upper else matrix)
    return mh(factor) if upper else factor, info
