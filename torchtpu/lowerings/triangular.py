"""Systems of equations whose matrix is triangular."""

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.lapack import same_batch


def solve(
    matrix: Array, right: Array, lower: bool, left: bool = True, transpose: bool = False, conjugate: bool = False, unit: bool = False
) -> Array:
    """X of op(matrix) X = right, or of X op(matrix) = right; the batches broadcast, nothing is checked."""
    matrix, right = same_batch(matrix, right)
    if right.size == 0:
        return right
    return lax.linalg.triangular_solve(
        matrix, right, left_side=left, lower=lower, transpose_a=transpose, conjugate_a=conjugate, unit_diagonal=unit
    )


def solve_triangular(self: Array, B: Array, upper: bool, left: bool, unitriangular: bool) -> Array:
    return solve(self, B, not upper, left, unit=unitriangular)


def triangular_solve(self: Array, A: Array, upper: bool, transpose: bool, unitriangular: bool) -> tuple[Array, Array]:
    A, self = same_batch(A, self)
    return solve(A, self, not upper, transpose=transpose, unit=unitriangular), jnp.asarray(A)
