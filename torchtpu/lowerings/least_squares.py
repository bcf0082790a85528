"""The least-squares solution of a system of equations, by LAPACK's four drivers' rules."""

import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings import orthogonal, spectral, triangular
from torchtpu.lowerings.checked import Checked, checked
from torchtpu.lowerings.creation import triu
from torchtpu.lowerings.lapack import diagonal, mh, nothing, real_dtype, same_batch
from torchtpu.lowerings.padded import Padded


def lstsq(self: Array, b: Array, rcond: Array | None, driver: str | None) -> Checked:
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise ValueError("the CPU refuses")
    is_vector = b.ndim == 1 or b.shape == self.shape[:-1]
    A, B = same_batch(self, b[..., None] if is_vector else b)
    solve = _full_rank(A, B) if driver == "gels" else _any_rank(A, B, rcond, driver or "gelsy")
    (solution, *others), ok = solve
    return checked((solution[..., 0] if is_vector else solution, *others), ok)


def _full_rank(A: Array, B: Array) -> tuple[tuple, Array]:
    """By QR, which tells no rank; of a wide matrix the solution with the least norm."""
    *_, m, n = A.shape
    k = min(m, n)
    reflectors, tau = orthogonal.geqrf(A if m >= n else mh(A))
    R = triu(reflectors[..., :k, :k], 0)
    residuals = nothing(real_dtype(A.dtype))
    if m >= n:
        turned = orthogonal.ormqr(reflectors, tau, B, True, True)
        solution = triangular.solve(R, turned[..., :n, :], lower=False)
        residuals = _squares(turned[..., n:, :]) if m > n else residuals
    else:
        half = triangular.solve(R, B, lower=False, transpose=True, conjugate=True)
        rows = [(0, 0)] * (A.ndim - 2) + [(0, n - m), (0, 0)]
        solution = orthogonal.ormqr(reflectors, tau, jnp.pad(half, rows), True, False)
    is_zero = jnp.all(A == 0, axis=(-2, -1))  # which LAPACK solves by zero
    has_rank = jnp.all(diagonal(R) != 0, axis=-1)
    solution = jnp.where(is_zero[..., None, None], 0, solution)
    return (solution, residuals, jnp.zeros((0,), jnp.int64), nothing(real_dtype(A.dtype))), jnp.all(is_zero | has_rank)


def _any_rank(A: Array, B: Array, rcond: Array | None, driver: str) -> tuple[tuple, Array]:
    """By singular values, of which those below `rcond` times the largest count as zero."""
    *_, m, n = A.shape
    real = real_dtype(A.dtype)
    (U, S, Vh), ok = spectral.svd(A, False, True, None)
    smallest = jnp.finfo(real).eps * max(m, n) if rcond is None else jnp.asarray(rcond).astype(real)
    counts = S > smallest * S[..., :1]
    inverse = jnp.where(counts, 1 / jnp.where(counts, S, 1), 0).astype(A.dtype)
    solution = mh(Vh) @ (inverse[..., None] * (mh(U) @ B))
    rank = jnp.sum(counts, axis=-1, dtype=jnp.int64)
    residuals, values = nothing(real), nothing(real)
    if driver != "gelsy":
        values = S
        if m > n:  # there are residuals if all ranks are full
            residuals = _squares(B - A @ solution)
            residuals = Padded(residuals, jnp.where(jnp.all(rank == n), residuals.shape[0], 0), 0)
    return (solution, residuals, rank, values), ok


def _squares(rows: Array) -> Array:
    return jnp.sum(jnp.square(jnp.abs(rows)), axis=-2)
