"""Softmax and its logarithm along one axis."""

import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings.opmath import opmath


def softmax(self: Array, dim: int, half_to_float: bool) -> Array:
    weights = jnp.exp(_below_maximum(self, dim))
    return _result(weights / _total(weights, dim), self, half_to_float)


def log_softmax(self: Array, dim: int, half_to_float: bool) -> Array:
    shifted = _below_maximum(self, dim)
    return _result(shifted - jnp.log(_total(jnp.exp(shifted), dim)), self, half_to_float)


def softmax_backward(grad_output: Array, output: Array, dim: int, input_dtype: jnp.dtype) -> Array:
    weighted = opmath(grad_output) * opmath(output)
    return (weighted - opmath(output) * _total(weighted, dim)).astype(input_dtype)


def log_softmax_backward(grad_output: Array, output: Array, dim: int, input_dtype: jnp.dtype) -> Array:
    grad = opmath(grad_output)
    return (grad - jnp.exp(opmath(output)) * _total(grad, dim)).astype(input_dtype)


def _below_maximum(self: Array, dim: int) -> Array:
    """Shifted so that no exponential overflows; a 0-d array is its own maximum."""
    value = opmath(self)
    return value - jnp.max(value, _axis(self, dim), keepdims=True, initial=-jnp.inf)


def _total(value: Array, dim: int) -> Array:
    return jnp.sum(value, _axis(value, dim), keepdims=True)


def _axis(value: Array, dim: int) -> tuple[int, ...]:
    return (dim,) if value.ndim else ()


def _result(value: Array, self: Array, half_to_float: bool) -> Array:
    return value.astype(jnp.float32 if half_to_float else self.dtype)


def masked_softmax(self: Array, mask: Array, dim: int | None, mask_type: int | None) -> Array:
    """Without the elements that the mask names.

    The mask has the shape of `self`, or, as of attention scores [B, heads, L, L], [L, L] (type 0) or [B, L] (type 1).
    """
    if mask_type == 1:
        mask = mask.reshape(mask.shape[0], *[1] * (self.ndim - 2), mask.shape[1])
    dim = self.ndim - 1 if dim is None else dim % max(self.ndim, 1)
    return softmax(jnp.where(mask, jnp.full_like(self, -jnp.inf), self), dim, False)


def masked_softmax_backward(grad_output: Array, output: Array, mask: Array, dim: int | None) -> Array:
    dim = output.ndim - 1 if dim is None else dim % max(output.ndim, 1)
    return softmax_backward(grad_output, jnp.where(mask, jnp.zeros_like(output), output), dim, output.dtype)
