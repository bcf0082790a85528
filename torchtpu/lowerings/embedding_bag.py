"""Bags of rows of a table, added up, averaged or searched for their largest (nn.EmbeddingBag). `mode` is ATen's code."""

import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings.checked import Checked, checked
from torchtpu.lowerings.opmath import opmath

SUM, MEAN, MAX = range(3)


def embedding_bag(
    weight: Array,
    indices: Array,
    offsets: Array,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Array | None,
    include_last_offset: bool,
    padding_idx: int,
    forward_only: bool = False,
) -> Checked:
    """The bags, and what their backward needs: the bag of each index, the sizes of bags, the row of each maximum."""
    if indices.ndim != 1 or offsets.ndim != 1:
        raise ValueError("indices and offsets are vectors")  # so says the CPU
    rows, bags = weight.shape[0], offsets.size - include_last_offset
    padding_idx = padding_idx + rows if padding_idx < -1 else padding_idx
    bag = bag_of_index(indices, offsets)
    counted = (indices != padding_idx) if padding_idx >= 0 else jnp.ones(indices.shape, bool)
    at = jnp.clip(indices, 0, max(rows - 1, 0)).astype(jnp.int32)
    table = opmath(weight) if rows else jnp.zeros((1, *weight.shape[1:]), opmath(weight).dtype)
    picked = table[at]
    sizes = jnp.zeros((bags,), offsets.dtype).at[bag].add(counted.astype(offsets.dtype), mode="drop")

    # As ATen's kernels have it: the sum needs no sizes, and its quick form no bags either.
    kept_sizes = jnp.zeros((offsets.size if forward_only else bags,), offsets.dtype) if mode == SUM else sizes
    quick = mode == SUM and padding_idx < 0 and weight.dtype != jnp.float64
    kept_bags = jnp.zeros((0,), offsets.dtype) if quick else bag.astype(offsets.dtype)
    if mode == MAX:
        result, largest = _largest(picked, at, bag, counted, bags)
        largest = largest.astype(offsets.dtype)
    else:
        if per_sample_weights is not None:
            picked = picked * opmath(per_sample_weights)[:, None]
        picked = jnp.where(counted[:, None], picked, 0)
        result = jnp.zeros((bags, weight.shape[1]), picked.dtype).at[bag].add(picked, mode="drop")
        if mode == MEAN:
            result = result / jnp.maximum(sizes, 1)[:, None].astype(picked.dtype)
        largest = kept_sizes
    ok = jnp.all((indices >= 0) & (indices < rows))
    if offsets.size:
        ok = ok & (offsets[0] == 0) & (offsets[-1] <= indices.size)
    return checked((result.astype(weight.dtype), kept_bags, kept_sizes, largest), ok)


def embedding_bag_forward_only(**arguments) -> Checked:
    return embedding_bag(**arguments, forward_only=True)


def embedding_bag_dense_backward(
    grad: Array,
    indices: Array,
    offset2bag: Array,
    bag_size: Array,
    maximum_indices: Array,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Array | None,
    padding_idx: int,
) -> Array:
    of_bags, bag = opmath(grad), offset2bag.astype(jnp.int32)
    zeros = jnp.zeros((num_weights, grad.shape[1]), of_bags.dtype)
    if mode == MAX:
        columns = jnp.arange(grad.shape[1], dtype=jnp.int32)
        used = jnp.where(bag_size[:, None] > 0, maximum_indices, num_weights).astype(jnp.int32)
        return zeros.at[used, columns].add(of_bags, mode="drop").astype(grad.dtype)
    rows = jnp.where(indices == padding_idx, num_weights, indices).astype(jnp.int32)  # out of range, hence dropped
    scale = jnp.ones(rows.shape, of_bags.dtype)
    if per_sample_weights is not None:
        scale = scale * opmath(per_sample_weights)
    if scale_grad_by_freq:
        uses = jnp.zeros((num_weights,), of_bags.dtype).at[rows].add(1, mode="drop")
        scale = scale / jnp.take(uses, rows, mode="clip")
    if mode == MEAN:
        scale = scale / jnp.take(bag_size, bag, mode="clip").astype(of_bags.dtype)
    of_rows = jnp.take(of_bags, bag, axis=0, mode="clip") * scale[:, None]
    return zeros.at[rows].add(of_rows, mode="drop").astype(grad.dtype)


def per_sample_weights_backward(
    grad: Array, weight: Array, indices: Array, offsets: Array, offset2bag: Array, mode: int, padding_idx: int
) -> Array:
    bag = offset2bag if offset2bag.size else bag_of_index(indices, offsets)
    of_bags = jnp.take(opmath(grad), bag, axis=0, mode="clip")
    products = of_bags * jnp.take(opmath(weight), indices, axis=0, mode="clip")
    return jnp.where(indices == padding_idx, 0, products.sum(1)).astype(grad.dtype)


def bag_of_index(indices: Array, offsets: Array) -> Array:
    """Bags start at the offsets: an empty one where the next starts at the same place."""
    starts = jnp.zeros((indices.size,), jnp.int32).at[offsets[1:]].add(1, mode="drop")
    return jnp.cumsum(starts, dtype=jnp.int32)


def _largest(picked: Array, rows: Array, bag: Array, counted: Array, bags: int) -> tuple[Array, Array]:
    """Per bag and column the largest value and its row, the first of equals; zeros of an empty bag."""
    value = jnp.where(counted[:, None], picked, -jnp.inf)
    largest = jnp.full((bags, picked.shape[1]), -jnp.inf, picked.dtype).at[bag].max(value, mode="drop")
    hit = counted[:, None] & (value == jnp.take(largest, bag, axis=0, mode="clip"))
    order = jnp.arange(rows.size, dtype=jnp.int32)[:, None]
    first = jnp.full(largest.shape, rows.size, jnp.int32).at[bag].min(jnp.where(hit, order, rows.size), mode="drop")
    found = first < rows.size
    row = jnp.where(found, jnp.take(rows, first, mode="fill", fill_value=0), 0)
    return jnp.where(found, largest, 0), row
