"""Products of matrices and vectors. Half-precision sums are kept in float32 and rounded once, at the end."""

import jax
import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.opmath import opmath, opmath_dtype


def contract(left: Array, right: Array, contracting: tuple, batch: tuple = ((), ())) -> Array:
    """lax.dot_general in the operands' computation dtype, not yet rounded to theirs."""
    return lax.dot_general(left, right, (contracting, batch), preferred_element_type=opmath_dtype(left.dtype))


def mm(self: Array, mat2: Array) -> Array:
    return contract(self, mat2, ((1,), (0,))).astype(self.dtype)


def bmm(self: Array, mat2: Array) -> Array:
    """ATen takes two dtypes where nothing is multiplied."""
    return contract(self.astype(mat2.dtype), mat2, ((2,), (1,)), ((0,), (0,))).astype(mat2.dtype)


def mv(self: Array, vec: Array) -> Array:
    return contract(self, vec, ((1,), (0,))).astype(self.dtype)


def dot(self: Array, tensor: Array) -> Array:
    return contract(self, tensor, ((0,), (0,))).astype(self.dtype)


def vdot(self: Array, other: Array) -> Array:
    return dot(jnp.conj(self), other)


def addmm(self: Array, mat1: Array, mat2: Array, beta: Array, alpha: Array) -> Array:
    return accumulate(self, contract(mat1, mat2, ((1,), (0,))), beta, alpha)


def addmm_activation(self: Array, mat1: Array, mat2: Array, beta: Array, alpha: Array, use_gelu: bool) -> Array:
    """ReLU or GELU of what addmm gives, rounded in between as the CPU does."""
    total = opmath(addmm(self, mat1, mat2, beta, alpha))
    return (jax.nn.gelu(total, approximate=False) if use_gelu else jax.nn.relu(total)).astype(self.dtype)


def addmv(self: Array, mat: Array, vec: Array, beta: Array, alpha: Array) -> Array:
    return accumulate(self, contract(mat, vec, ((1,), (0,))), beta, alpha)


def addr(self: Array, vec1: Array, vec2: Array, beta: Array, alpha: Array) -> Array:
    return accumulate(self, opmath(vec1)[:, None] * opmath(vec2), beta, alpha)


def baddbmm(self: Array, batch1: Array, batch2: Array, beta: Array, alpha: Array) -> Array:
    product = contract(batch1.astype(batch2.dtype), batch2, ((2,), (1,)), ((0,), (0,)))
    return accumulate(self.astype(batch2.dtype), product, beta, alpha)


def addbmm(self: Array, batch1: Array, batch2: Array, beta: Array, alpha: Array) -> Array:
    return accumulate(self, contract(batch1, batch2, ((0, 2), (0, 1))), beta, alpha)


def accumulate(self: Array, product: Array, beta: Array, alpha: Array) -> Array:
    """beta * self + alpha * product in self's dtype; as in BLAS, beta = 0 discards self with its nans."""
    if jnp.issubdtype(product.dtype, jnp.integer):  # ATen truncates the factors of integers
        beta, alpha = (jnp.asarray(factor).astype(product.dtype) for factor in (beta, alpha))
    scaled = alpha * product
    if isinstance(beta, (int, float)):
        total = beta * opmath(self) + scaled if beta else scaled
    else:
        total = jnp.where(beta == 0, 0, beta * opmath(self)) + scaled
    return jnp.broadcast_to(total, product.shape).astype(self.dtype)
