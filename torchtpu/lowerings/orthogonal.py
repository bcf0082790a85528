"""QR factors, and matrices that are kept as Householder reflectors."""

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.creation import triu
from torchtpu.lowerings.lapack import eye_like, nothing


def geqrf(self: Array) -> tuple[Array, Array]:
    """R above the diagonal, the reflectors below it, and their factors."""
    if self.size == 0:
        return self, jnp.zeros((*self.shape[:-2], min(self.shape[-2:])), self.dtype)
    transposed, tau = jnp.linalg.qr(self, mode="raw")
    return transposed.mT, tau


def qr(A: Array, mode: str) -> tuple[Array, Array]:
    *_, m, n = A.shape
    k = m if mode == "complete" else min(m, n)
    reflectors, tau = geqrf(A)
    R = triu(reflectors[..., :k, :], 0)
    if mode == "r":
        return nothing(A.dtype), R
    columns = jnp.pad(reflectors[..., :k], [(0, 0)] * (A.ndim - 1) + [(0, max(k - n, 0))])
    return householder_product(columns, tau), R


def householder_product(input: Array, tau: Array) -> Array:
    """The first columns of the product of the reflectors."""
    if tau.size == 0:
        return eye_like(input, input.shape[-2])[..., : input.shape[-1]]
    return lax.linalg.householder_product(input, tau)


def ormqr(self: Array, input2: Array, input3: Array, left: bool, transpose: bool) -> Array:
    """The product of the reflectors times `input3`, or `input3` times it."""
    if input3.size == 0 or input2.size == 0:
        return input3
    return lax.linalg.ormqr(self, input2, input3, left=left, transpose=transpose)
