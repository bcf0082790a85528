"""Reductions of runs of neighbours along one axis, whose lengths, or whose ends, are in a tensor.

Every dimension before the axis has segments of its own. A segment without elements is `initial`, or the reduction's
neutral element, or nan for a mean.
"""

import math

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.checked import Checked, checked
from torchtpu.lowerings.opmath import opmath
from torchtpu.lowerings.promotion import Scalar, cast

_NEUTRAL = {"sum": 0, "mean": 0, "prod": 1, "max": -math.inf, "min": math.inf}


def segment_reduce(
    data: Array,
    reduce: str,
    lengths: Array | None,
    indices: Array | None,
    offsets: Array | None,
    axis: int,
    unsafe: bool,
    initial: Scalar | None,
) -> Array | Checked:
    del indices
    axis %= data.ndim
    bounds = _bounds(lengths, offsets)
    rows = opmath(data).reshape(*bounds.shape[:-1], data.shape[axis], math.prod(data.shape[axis + 1 :]))
    start = jnp.asarray(cast(_NEUTRAL[reduce] if initial is None else initial, rows.dtype))
    number = _segment_of(bounds, rows.shape[-2])
    target = jnp.broadcast_to(start, (len(bounds), bounds.shape[-1] - 1, rows.shape[-1])).at[_at(number)]
    add_up = {"sum": target.add, "mean": target.add, "prod": target.multiply, "max": target.max, "min": target.min}
    result = add_up[reduce](rows, mode="drop")
    if reduce == "mean":
        count = jnp.diff(bounds)[..., None].astype(rows.dtype)
        empty = jnp.asarray(jnp.nan, rows.dtype) if initial is None else start
        result = jnp.where(count > 0, result / count, empty)
    result = result.reshape(*data.shape[:axis], bounds.shape[-1] - 1, *data.shape[axis + 1 :]).astype(data.dtype)
    if lengths is None or unsafe:
        return result
    return checked(result, jnp.all(lengths >= 0) & jnp.all(bounds[..., -1] == data.shape[axis]))


def segment_reduce_backward(
    grad: Array,
    output: Array,
    data: Array,
    reduce: str,
    lengths: Array | None,
    offsets: Array | None,
    axis: int,
    initial: Scalar | None,
) -> Array:
    """To each element what it contributed; elements that share an extreme share its gradient.

    The CPU divides it only where it is positive, which is a mistake.
    """
    axis %= data.ndim
    bounds = _bounds(lengths, offsets)
    outer, size, inner = len(bounds), data.shape[axis], math.prod(data.shape[axis + 1 :])
    number = _segment_of(bounds, size)
    rows = opmath(data).reshape(outer, size, inner)
    results, gradients = (opmath(x).reshape(outer, bounds.shape[-1] - 1, inner) for x in (output, grad))
    result, gradient = (x.at[_at(number)].get(mode="fill", fill_value=0) for x in (results, gradients))
    if reduce == "mean":
        length = jnp.take_along_axis(jnp.diff(bounds), number, axis=-1, mode="clip")
        gradient = gradient / length[..., None].astype(rows.dtype)
    elif reduce == "prod":
        gradient = gradient * _product_of_others(rows, number, results.shape, initial)
    elif reduce in ("max", "min"):
        hit = (rows == result) | (jnp.isnan(rows) & jnp.isnan(result))
        hits = jnp.zeros(results.shape, rows.dtype).at[_at(number)].add(hit.astype(rows.dtype), mode="drop")
        gradient = jnp.where(hit, gradient / jnp.maximum(hits.at[_at(number)].get(mode="clip"), 1), 0)
    return gradient.reshape(data.shape).astype(data.dtype)


def _product_of_others(rows: Array, number: Array, shape: tuple[int, ...], initial: Scalar | None) -> Array:
    """Of each element's segment, without itself. A zero is kept out of the products, and counted."""
    start = jnp.ones((), rows.dtype) if initial is None else cast(initial, rows.dtype)
    where, zero = _at(number), rows == 0
    products = jnp.broadcast_to(start, shape).at[where].multiply(jnp.where(zero, 1, rows), mode="drop")
    zeros = jnp.zeros(shape, jnp.int32).at[where].add(zero.astype(jnp.int32), mode="drop")
    product, count = (x.at[where].get(mode="fill", fill_value=0) for x in (products, zeros))
    return jnp.where(count - zero > 0, 0, jnp.where(zero, product, product / jnp.where(zero, 1, rows)))


def _bounds(lengths: Array | None, offsets: Array | None) -> Array:
    """[before the axis, segments + 1]: where each segment starts, and where the last one ends."""
    if offsets is None:
        ends = jnp.cumsum(lengths, axis=-1)
        offsets = jnp.concatenate([jnp.zeros_like(ends[..., :1]), ends], axis=-1)
    return offsets.reshape(math.prod(offsets.shape[:-1]), -1).astype(jnp.int32)


def _segment_of(bounds: Array, size: int) -> Array:
    """[before the axis, size]: the segment that each position is in; one that does not exist, if it is in none."""
    place = lax.iota(jnp.int32, size)
    number = jnp.sum(place[None, :, None] >= bounds[:, None, 1:], axis=-1, dtype=jnp.int32)
    return jnp.where(place >= bounds[:, :1], number, bounds.shape[-1] - 1)


def _at(number: Array) -> tuple[Array, Array]:
    return lax.broadcasted_iota(jnp.int32, number.shape, 0), number
