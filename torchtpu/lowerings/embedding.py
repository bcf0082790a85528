"""Rows of a table picked by index, and gradients summed back into them."""

import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings.checked import Checked, checked
from torchtpu.lowerings.opmath import opmath


def embedding(weight: Array, indices: Array, padding_idx: int, scale_grad_by_freq: bool, sparse: bool) -> Checked:
    """Only the gradient knows of padding and frequencies."""
    if weight.shape[0] == 0:
        return checked(jnp.zeros((*indices.shape, *weight.shape[1:]), weight.dtype), jnp.array(indices.size == 0))
    in_range = (indices >= 0) & (indices < weight.shape[0])
    return checked(jnp.take(weight, indices, axis=0, mode="clip"), jnp.all(in_range))


def embedding_dense_backward(
    grad_output: Array, indices: Array, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Array:
    rows = indices.reshape(-1)
    rows = jnp.where(rows == padding_idx, num_weights, rows)  # out of range, hence dropped
    grads = opmath(grad_output).reshape(rows.size, grad_output.shape[-1])
    if scale_grad_by_freq:
        uses = jnp.zeros((num_weights,), grads.dtype).at[rows].add(1, mode="drop")
        grads = grads / jnp.take(uses, rows, mode="clip")[:, None]
    sums = jnp.zeros((num_weights, grads.shape[1]), grads.dtype).at[rows].add(grads, mode="drop")
    return sums.astype(grad_output.dtype)


def embedding_renorm(self: Array, indices: Array, max_norm: Array, norm_type: Array) -> Array:
    """Shrinks the rows in use whose norm is above `max_norm`."""
    used = jnp.zeros((self.shape[0],), bool).at[indices.reshape(-1)].set(True, mode="drop")
    norms = jnp.power(jnp.power(jnp.abs(opmath(self)), norm_type).sum(1), 1 / norm_type)
    scale = jnp.where(used & (norms > max_norm), max_norm / (norms + 1e-7), 1)
    return (opmath(self) * scale[:, None]).astype(self.dtype)
