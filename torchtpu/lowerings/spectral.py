"""Eigenvalues and singular values. Where the iteration does not converge, the CPU is asked for its error."""

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings import lapack
from torchtpu.lowerings.checked import Checked, checked
from torchtpu.lowerings.lapack import eye_like, nothing, real_dtype


def eigh(A: Array, UPLO: str, compute_v: bool) -> Checked:
    lower, n, real = UPLO.upper() == "L", A.shape[-1], real_dtype(A.dtype)

    def by_lapack(A: Array) -> tuple[Array, Array, Array]:
        routine = "heevd" if jnp.iscomplexobj(A) else "syevd"
        flags = {"mode": "V" if compute_v else "N", "uplo": "L" if lower else "U"}
        vectors, values, info = lapack.call(routine, A, [((n, n), A.dtype), ((n,), real)], **flags)
        return values, vectors, info

    def by_xla(A: Array) -> tuple[Array, Array, Array]:
        vectors, values = lax.linalg.eigh(A, lower=lower, symmetrize_input=False)
        return values, vectors, jnp.zeros(A.shape[:-2], jnp.int32)

    values, vectors, info = lapack.on_cpu(by_lapack, by_xla, A)
    return checked((values, vectors if compute_v else nothing(A.dtype)), jnp.all(info == 0))


def eig(self: Array) -> Checked:
    values, vectors, info = _eig(self, True)
    return checked((values, vectors), jnp.all(info == 0) & jnp.all(jnp.isfinite(self)))


def eigvals(self: Array) -> Checked:
    """The CPU crashes on what is not finite; here its eigenvalues are nan."""
    values, _, info = _eig(self, False)
    finite = jnp.all(jnp.isfinite(self), axis=(-2, -1))
    return checked(jnp.where(finite[..., None], values, jnp.nan), jnp.all((info == 0) | ~finite))


def _eig(matrix: Array, vectors: bool) -> tuple[Array, Array, Array]:
    n, real = matrix.shape[-1], not jnp.iscomplexobj(matrix)
    complex_dtype = jnp.promote_types(matrix.dtype, jnp.complex64)

    def by_lapack(matrix: Array) -> tuple[Array, Array, Array]:
        values = [((n,), matrix.dtype)] * (2 if real else 1)
        flags = {"compute_left": "N", "compute_right": "V" if vectors else "N"}
        *values, _, right, info = lapack.call("geev", matrix, [*values, *[((n, n), complex_dtype)] * 2], **flags)
        return lax.complex(*values) if real else values[0], right, info

    def by_xla(matrix: Array) -> tuple[Array, Array, Array]:
        values, right = lax.linalg.eig(matrix, compute_left_eigenvectors=False)
        return values, right, jnp.zeros(matrix.shape[:-2], jnp.int32)

    return lapack.on_cpu(by_lapack, by_xla, matrix)


def svd(A: Array, full_matrices: bool, compute_uv: bool, driver: str | None) -> Checked:
    if driver is not None:
        raise ValueError("the CPU refuses")
    *batch, m, n = A.shape
    k, real = min(m, n), real_dtype(A.dtype)
    if not k:
        S, U, Vh = jnp.zeros((*batch, 0), real), eye_like(A, m), eye_like(A, n)
        results = (U, S, Vh) if full_matrices else (U[..., :0], S, Vh[..., :0, :])
        return checked(results if compute_uv else (nothing(A.dtype), S, nothing(A.dtype)), jnp.array(True))

    def by_lapack(A: Array) -> tuple[Array, ...]:
        sizes = (m, n) if full_matrices else (k, k)
        results = [((m, n), A.dtype), ((k,), real), ((m, sizes[0]), A.dtype), ((sizes[1], n), A.dtype)]
        _, S, U, Vh, info = lapack.call("gesdd", A, results, mode="N" if not compute_uv else "A" if full_matrices else "S")
        return (U, S, Vh, info) if compute_uv else (S, info)

    def by_xla(A: Array) -> tuple[Array, ...]:
        info = jnp.zeros(A.shape[:-2], jnp.int32)
        if not compute_uv:
            return lax.linalg.svd(A, compute_uv=False), info
        U, S, Vh = lax.linalg.svd(A, full_matrices=full_matrices)
        return U, S, Vh, info

    *results, info = lapack.on_cpu(by_lapack, by_xla, A)
    ok = jnp.all(info == 0)
    return checked(tuple(results) if compute_uv else (nothing(A.dtype), results[0], nothing(A.dtype)), ok)
