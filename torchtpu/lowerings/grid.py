"""Sampling an image at the places that a grid names (nn.functional.grid_sample), in two or three dimensions.

`input` is (batch, channels, *space), `grid` (batch, *output, rank) with x first: -1 and 1 are the ends of an axis. The
modes are ATen's codes. What a gradient is at a border is said by `where`, as ATen's kernels decide it.
"""

import itertools
import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.opmath import opmath
from torchtpu.lowerings.vjp import vjp

LINEAR, NEAREST, CUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)


def grid_sampler(
    input: Array, grid: Array, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Array:
    output = grid.shape[1:-1]
    space = input.shape[2:]
    image = opmath(input).reshape(*input.shape[:2], math.prod(space))
    # The axes of the grid are those of the image in reverse.
    places = jnp.moveaxis(opmath(grid), -1, 0)[::-1].reshape(len(space), grid.shape[0], math.prod(output))
    scaled = [_unnormalized(place, size, align_corners) for place, size in zip(places, space)]

    def inside(position: Array, size: int) -> Array:
        return _padded(position, size, padding_mode, align_corners)

    if interpolation_mode != CUBIC:
        scaled = [inside(position, size) for position, size in zip(scaled, space)]
    taps = [_TAPS[interpolation_mode](position) for position in scaled]
    if interpolation_mode == CUBIC:
        taps = [[(inside(at, size), weight) for at, weight in axis] for axis, size in zip(taps, space)]
    total = sum(_tap(image, space, corner) for corner in itertools.product(*taps))
    return total.reshape(*input.shape[:2], *output).astype(input.dtype)


def grid_sampler_backward(
    grad_output: Array,
    input: Array,
    grid: Array,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: tuple[bool, bool],
) -> tuple[Array | None, Array | None]:
    modes = dict(interpolation_mode=interpolation_mode, padding_mode=padding_mode, align_corners=align_corners)
    arguments = dict(input=input, grid=grid, **modes)
    return vjp(grid_sampler, wrt=("input", "grid"), cotangent=grad_output, mask=output_mask, arguments=arguments)


def _tap(image: Array, space: Sequence[int], corner: Sequence[tuple[Array, Array]]) -> Array:
    """Of every place of the grid the pixel at one corner of its cell, times its weight; nothing outside the image."""
    in_range, at = True, 0
    for (position, _), size in zip(corner, space):
        hit = (position >= 0) & (position < size)
        in_range = in_range & hit
        at = at * size + jnp.where(hit, lax.stop_gradient(position), 0).astype(jnp.int32)
    if not image.shape[-1]:
        pixels = jnp.zeros((*image.shape[:2], at.shape[-1]), image.dtype)
    else:
        pixels = jax.vmap(lambda plane, index: plane.at[:, index].get(mode="promise_in_bounds"))(image, at)
    weight = math.prod(weight for _, weight in corner)
    return jnp.where(in_range[:, None], pixels, 0) * weight[:, None]


def _unnormalized(place: Array, size: int, align_corners: bool) -> Array:
    """From -1..1 to 0..size - 1: of the centers of the outermost pixels, or else of their edges."""
    return (place + 1) / 2 * (size - 1) if align_corners else ((place + 1) * size - 1) / 2


def _padded(position: Array, size: int, padding_mode: int, align_corners: bool) -> Array:
    if padding_mode == ZEROS:
        return position
    if padding_mode == REFLECTION:
        position = _reflected(position, 0, size - 1) if align_corners else _reflected(position, -0.5, size - 0.5)
    # A nan becomes 0.
    return jnp.where(position > 0, jnp.where(position < size - 1, position, size - 1), jnp.zeros_like(position))


def _reflected(position: Array, low: float, high: float) -> Array:
    span = high - low
    if span <= 0:
        return jnp.zeros_like(position)
    distance = position - low
    distance = jnp.where(distance < 0, -distance, distance)
    beyond = lax.rem(distance, jnp.asarray(span, distance.dtype))
    is_even = lax.rem(jnp.floor(distance / span), jnp.asarray(2, distance.dtype)) == 0
    return jnp.where(is_even, beyond + low, span - beyond + low)


def _linear(position: Array) -> list[tuple[Array, Array]]:
    floor = jnp.floor(position)
    return [(floor, floor + 1 - position), (floor + 1, position - floor)]


def _nearest(position: Array) -> list[tuple[Array, Array]]:
    return [(jnp.round(position), jnp.ones_like(position))]


def _cubic(position: Array) -> list[tuple[Array, Array]]:
    """Keys' convolution with a = -0.75."""
    floor, a = jnp.floor(position), -0.75
    ahead = position - floor

    def near(x):
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x):
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    weights = far(ahead + 1), near(ahead), near(1 - ahead), far(2 - ahead)
    return [(floor + tap, weight) for tap, weight in enumerate(weights, -1)]


_TAPS = {LINEAR: _linear, NEAREST: _nearest, CUBIC: _cubic}
