"""LU factors of a matrix with row interchanges, and what is computed from them.

Pivots are LAPACK's: row i was interchanged with row pivots[i] - 1, in order.
"""

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings import triangular
from torchtpu.lowerings.checked import Checked, checked
from torchtpu.lowerings.creation import eye_m, tril, triu
from torchtpu.lowerings.lapack import diagonal, eye_like, mh, nothing, real_dtype, same_batch


def factor_ex(A: Array, pivot: bool, check_errors: bool) -> tuple[Array, Array, Array] | Checked:
    if not pivot:
        raise ValueError("the CPU refuses")
    result = _factor(A)
    return checked(result, jnp.all(result[2] == 0)) if check_errors else result


def factors(A: Array, pivot: bool) -> tuple[Array, Array, Array]:
    if not pivot:
        raise ValueError("the CPU refuses")
    LU, pivots, _ = _factor(A)
    return unpack(LU, pivots, True, True)


def unpack(LU_data: Array, LU_pivots: Array, unpack_data: bool, unpack_pivots: bool) -> tuple[Array, Array, Array]:
    *_, m, n = LU_data.shape
    k = min(m, n)
    P = L = U = nothing(LU_data.dtype)
    if unpack_pivots:
        rows = lax.broadcasted_iota(jnp.int32, (*LU_pivots.shape[:-1], m, m), LU_pivots.ndim - 1)
        P = (rows == _permutation(LU_pivots, m)[..., None, :]).astype(LU_data.dtype)
    if unpack_data:
        L = tril(LU_data[..., :, :k], -1) + eye_m(m, k, LU_data.dtype)
        U = triu(LU_data[..., :k, :], 0)
    return P, L, U


def solve_factored(LU: Array, pivots: Array, B: Array, left: bool, adjoint: bool) -> Array:
    """X of op(A) X = B, or of X op(A) = B, where A has these factors; op is the adjoint or nothing."""
    if not left:
        return mh(solve_factored(LU, pivots, mh(B), True, not adjoint))
    LU, B = same_batch(LU, B)
    if B.size == 0:
        return B
    rows = _permutation(pivots, LU.shape[-1])
    if not adjoint:
        B = _take_rows(B, rows)
        return triangular.solve(LU, triangular.solve(LU, B, lower=True, unit=True), lower=False)
    X = triangular.solve(LU, B, lower=False, transpose=True, conjugate=True)
    X = triangular.solve(LU, X, lower=True, unit=True, transpose=True, conjugate=True)
    _, inverse = lax.sort_key_val(rows, lax.broadcasted_iota(rows.dtype, rows.shape, rows.ndim - 1))
    return _take_rows(X, inverse)


def solve_ex(A: Array, B: Array, left: bool, check_errors: bool) -> tuple | Checked:
    is_vector = B.ndim == 1 or B.shape == A.shape[:-1]
    LU, pivots, info = _factor(A)
    result = solve_factored(LU, pivots, B[..., None] if is_vector else B, left or is_vector, False)
    results = result[..., 0] if is_vector else result, LU, pivots, info
    return checked(results, jnp.all(info == 0)) if check_errors else results


def inverse_ex(A: Array, check_errors: bool) -> tuple[Array, Array] | Checked:
    LU, pivots, info = _factor(A)
    results = solve_factored(LU, pivots, eye_like(A, A.shape[-1]), True, False), info
    return checked(results, jnp.all(info == 0)) if check_errors else results


def det(A: Array, A_is_contiguous: bool) -> tuple[Array, Array, Array]:
    LU, pivots = _factor_either(A, A_is_contiguous)
    return jnp.prod(diagonal(LU), axis=-1) * _sign(pivots).astype(A.dtype), LU, pivots


def slogdet(A: Array, A_is_contiguous: bool) -> tuple[Array, Array, Array, Array]:
    LU, pivots = _factor_either(A, A_is_contiguous)
    factors = diagonal(LU)
    sign = jnp.prod(jnp.sign(factors), axis=-1) * _sign(pivots).astype(A.dtype)
    return sign, jnp.sum(jnp.log(jnp.abs(factors)), axis=-1, dtype=real_dtype(A.dtype)), LU, pivots


def _factor(A: Array) -> tuple[Array, Array, Array]:
    """LU, pivots, and which of the pivots is the first that is zero, from 1 on; 0: none of them."""
    batch, k = A.shape[:-2], min(A.shape[-2:])
    if A.size == 0:
        return A, jnp.zeros((*batch, k), jnp.int32), jnp.zeros(batch, jnp.int32)
    LU, pivots, _ = lax.linalg.lu(A)
    zero = diagonal(LU) == 0
    info = jnp.where(jnp.any(zero, axis=-1), lax.argmax(zero, zero.ndim - 1, jnp.int32) + 1, 0)
    return LU, pivots + 1, info


def _factor_either(A: Array, A_is_contiguous: bool) -> tuple[Array, Array]:
    """ATen factors the transpose of what lies row by row in memory, and its derivative formulas count on it."""
    LU, pivots, _ = _factor(A.mT if A_is_contiguous and not jnp.iscomplexobj(A) else A)
    return LU, pivots


def _sign(pivots: Array) -> Array:
    """Of the permutation: -1 for every row that was interchanged with another one."""
    moved = pivots != lax.broadcasted_iota(jnp.int32, pivots.shape, pivots.ndim - 1) + 1
    return 1 - 2 * (jnp.sum(moved, axis=-1, dtype=jnp.int32) % 2)


def _permutation(pivots: Array, size: int) -> Array:
    """Which row of A each row of L U is."""
    if pivots.shape[-1] == 0 or pivots.size == 0:
        return jnp.broadcast_to(jnp.arange(size, dtype=jnp.int32), (*pivots.shape[:-1], size))
    return lax.linalg.lu_pivots_to_permutation(pivots - 1, size)


def _take_rows(matrix: Array, rows: Array) -> Array:
    rows = jnp.broadcast_to(rows, (*matrix.shape[:-2], rows.shape[-1]))
    return jnp.take_along_axis(matrix, rows[..., None], axis=-2)
