"""Distances between the rows of matrices, by any p-norm. XLA reduces the differences as it makes them."""

import math

import jax.numpy as jnp
import numpy as np
from jax import Array

from torchtpu.lowerings.promotion import where
from torchtpu.lowerings.reduction import vector_norm

_MM_IF_NECESSARY, _MM, _MANY = 0, 1, 25


def cdist_forward(x1: Array, x2: Array, p: float, compute_mode: int | None) -> Array:
    many = max(x1.shape[-2], x2.shape[-2]) > _MANY
    by_product = compute_mode == _MM or (compute_mode in (None, _MM_IF_NECESSARY) and many)
    if p == 2 and by_product and x1.shape[-1]:
        return _by_product(x1, x2)
    return _norm(x1[..., :, None, :] - x2[..., None, :, :], p)


def cdist_backward(grad: Array, x1: Array, x2: Array, p: float, cdist: Array) -> Array:
    if not grad.size:
        shape = (*jnp.broadcast_shapes(x1.shape[:-2], x2.shape[:-2]), *x1.shape[-2:])
        return jnp.zeros(shape, x1.dtype)
    slopes = _slopes(x1[..., :, None, :] - x2[..., None, :, :], grad[..., None], cdist[..., None], p)
    return jnp.sum(slopes, axis=-2)


def pdist_forward(self: Array, p: float) -> Array:
    """The distances of the pairs i < j, in order."""
    return _norm(self[:, None] - self, p)[_pairs(len(self))]


def pdist_backward(grad: Array, self: Array, p: float, pdist: Array) -> Array:
    if not grad.size:
        return jnp.zeros_like(self)
    first, second = _pairs(len(self))
    square = jnp.zeros((len(self), len(self)), self.dtype)
    both = [square.at[first, second].set(values).at[second, first].set(values) for values in (grad, pdist)]
    return cdist_backward(both[0], self, self, p, both[1])


def _pairs(count: int) -> tuple[np.ndarray, np.ndarray]:
    return tuple(index.astype(np.int32) for index in np.triu_indices(count, 1))


def _by_product(x1: Array, x2: Array) -> Array:
    """|a|^2 + |b|^2 - 2 a b, as one product of matrices; what should be 0 may come out negative."""
    squares = [jnp.sum(x * x, axis=-1, keepdims=True) for x in (x1, x2)]
    left = jnp.concatenate([-2 * x1, squares[0], jnp.ones_like(squares[0])], axis=-1)
    right = jnp.concatenate([x2, jnp.ones_like(squares[1]), squares[1]], axis=-1)
    return jnp.sqrt(jnp.maximum(left @ jnp.swapaxes(right, -1, -2), 0))


def _norm(difference: Array, p: float) -> Array:
    if not difference.shape[-1]:
        return jnp.zeros(difference.shape[:-1], difference.dtype)
    if p == 0:
        return jnp.sum(where(jnp.isnan(difference), difference, difference != 0), axis=-1)
    return vector_norm(difference, p, (-1,), False, None)


def _slopes(difference: Array, grad: Array, distance: Array, p: float) -> Array:
    """The derivative of each distance with respect to its first row."""
    size, sign = jnp.abs(difference), jnp.sign(difference)
    if p == 0:
        return jnp.zeros_like(difference * grad)
    if p == 1:
        return grad * sign
    if p == math.inf:
        return grad * sign * (size == distance)
    if p == 2:
        slope = grad * difference / distance
    else:
        slope = sign * size ** (p - 1) * grad / distance ** (p - 1)
    flat = (distance == 0) | ((difference == 0) & (p < 1))
    return where(flat, 0, slope)
