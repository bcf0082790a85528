"""Histograms: how many elements, or how much weight, each bin holds. A bin has its left edge, the last one both.

What is not between the outermost edges, a nan for one, is not counted.
"""

import math
from collections.abc import Sequence
from functools import reduce

import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings.checked import Checked, checked
from torchtpu.lowerings.creation import linspace
from torchtpu.lowerings.promotion import Scalar, cast
from torchtpu.lowerings.sorting import searchsorted


def bincount(self: Array, weights: Array | None, size: int) -> Array:
    """`size` is larger than every element."""
    return _add_up(self, True, weights, size, jnp.int64)


def histc(self: Array, bins: int, min: Scalar, max: Scalar) -> Checked:
    """Bins of one width, found by dividing; without a range (min = max) those between the least and the greatest."""
    dtype = self.dtype
    self = self if jnp.issubdtype(dtype, jnp.inexact) else self.astype(jnp.float32)
    low, high = (cast(bound, self.dtype) for bound in (min, max))
    if self.size:
        ranged = low != high
        low, high = jnp.where(ranged, low, jnp.min(self)), jnp.where(ranged, high, jnp.max(self))
    ok = jnp.isfinite(low) & jnp.isfinite(high) & (low <= high)
    low, high = jnp.where(low == high, low - 1, low), jnp.where(low == high, high + 1, high)
    place = (self - low) * jnp.asarray(bins, self.dtype) / (high - low)
    inside = (self >= low) & (self <= high)
    place = jnp.minimum(jnp.where(inside, place, 0).astype(jnp.int32), bins - 1)
    return checked(_add_up(place, inside, None, bins, dtype), ok)


def histogram(
    self: Array, bins: int, range: tuple[Scalar, ...] | None, weight: Array | None, density: bool
) -> Checked:
    (edges,), ok = histogramdd_edges(self.reshape(-1, 1), (bins,), range, weight, density)
    return checked((histogram_of_edges(self, edges, weight, density)[0], edges), ok)


def histogram_of_edges(self: Array, bins: Array, weight: Array | None, density: bool) -> tuple[Array, Array]:
    return histogramdd_of_edges(self.reshape(-1, 1), [bins], weight, density), bins


def histogramdd(
    self: Array, bins: tuple[int, ...], range: tuple[Scalar, ...] | None, weight: Array | None, density: bool
) -> Checked:
    edges, ok = histogramdd_edges(self, bins, range, weight, density)
    return checked(histogramdd_of_edges(self, edges, weight, density), ok)


def histogramdd_edges(
    self: Array, bins: tuple[int, ...], range: tuple[Scalar, ...] | None, weight: Array | None, density: bool
) -> Checked:
    """For each coordinate, evenly spaced from the least to the greatest, or over the range that is given."""
    del weight, density
    points = _points(self, bins)
    if range is not None:
        if len(range) != 2 * len(bins):
            raise ValueError(f"{len(range)} bounds for {len(bins)} coordinates")
        lows, highs = (jnp.stack([cast(bound, self.dtype) for bound in range[side::2]]) for side in (0, 1))
    elif points.size:
        lows, highs = jnp.min(points, axis=0), jnp.max(points, axis=0)
    else:
        lows, highs = jnp.zeros(len(bins), self.dtype), jnp.ones(len(bins), self.dtype)
    ok = jnp.all(jnp.isfinite(lows) & jnp.isfinite(highs) & (lows <= highs))
    half = jnp.where(lows == highs, 0.5, 0).astype(self.dtype)
    edges = [
        linspace(low, high, count + 1, self.dtype).astype(self.dtype)
        for low, high, count in zip(lows - half, highs + half, bins)
    ]
    return checked(edges, ok)


def histogramdd_of_edges(self: Array, bins: list[Array], weight: Array | None, density: bool) -> Array:
    """Of points, whose coordinates are the last axis."""
    points = _points(self, bins)
    shape = tuple(edges.size - 1 for edges in bins)
    cell, inside = jnp.zeros(points.shape[0], jnp.int32), jnp.ones(points.shape[0], bool)
    for edges, size, value in zip(bins, shape, points.T):
        place = searchsorted(edges, value, True, True, None, None) - 1
        cell = cell * size + jnp.clip(place, 0, size - 1)
        inside &= (value >= edges[0]) & (value <= edges[-1])
    hist = _add_up(cell, inside, weight, math.prod(shape), self.dtype).reshape(shape)
    if not density:
        return hist
    volume = reduce(jnp.multiply.outer, [jnp.diff(edges) for edges in bins])
    return hist / jnp.sum(hist) / volume


def _points(self: Array, bins: Sequence) -> Array:
    if self.shape[-1] != len(bins):
        raise ValueError(f"{len(bins)} bins for {self.shape[-1]} coordinates")
    return self.reshape(-1, self.shape[-1])


def _add_up(place: Array, counted: Array | bool, weight: Array | None, size: int, dtype) -> Array:
    if weight is None:
        weight = jnp.ones(place.size, dtype)
    place = jnp.where(counted, place.astype(jnp.int32), size)
    return jnp.zeros(size, weight.dtype).at[place.reshape(-1)].add(weight.reshape(-1), mode="drop")
