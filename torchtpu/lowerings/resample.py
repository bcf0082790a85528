"""Changing the size of the trailing axes: upsampling and adaptive averages.

All of them are separable and linear: along each axis, an output is a weighted sum of a few inputs, its taps. Which
inputs and with what weights depends on sizes only, and is worked out here in numpy.
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from torchtpu.lowerings.opmath import opmath

Taps = list[tuple[np.ndarray, np.ndarray]]  # by tap: the input that it reads and its weight, for every output

_FEW = 8


def resample(self: Array, axes: list[Taps]) -> Array:
    whole = jnp.issubdtype(self.dtype, jnp.integer)
    value = self.astype(jnp.float32) if whole else opmath(self)
    for axis, taps in enumerate(axes, self.ndim - len(axes)):
        value = _weighted(value, taps, axis) if len(taps) <= _FEW else _weighted_window(value, taps, axis)
    return jnp.clip(jnp.round(value), 0, 255).astype(self.dtype) if whole else value.astype(self.dtype)


def _weighted(value: Array, taps: Taps, axis: int) -> Array:
    shape = [-1 if each == axis else 1 for each in range(value.ndim)]
    factors = ((source, weight.astype(value.dtype).reshape(shape)) for source, weight in taps)
    return sum(jnp.take(value, source.astype(np.int32), axis) * factor for source, factor in factors)


def _weighted_window(value: Array, taps: Taps, axis: int) -> Array:
    """The same with the taps along an axis of their own: many of them would make a long program."""
    sources, weights = (np.stack(each, axis=1) for each in zip(*taps))
    shape = [1] * axis + list(weights.shape) + [1] * (value.ndim - axis - 1)
    window = jnp.take(value, sources.astype(np.int32), axis) * weights.astype(value.dtype).reshape(shape)
    return window.sum(axis + 1)


def resample_backward(grad_output: Array, input_size: tuple[int, ...], axes: list[Taps]) -> Array:
    grad = opmath(grad_output)
    transpose = jax.linear_transpose(partial(resample, axes=axes), jax.ShapeDtypeStruct(input_size, grad.dtype))
    return transpose(grad)[0].astype(grad_output.dtype)


def average_taps(size: int, count: int) -> Taps:
    """Output `o` averages the inputs from floor(o * size / count) to ceil((o + 1) * size / count)."""
    outputs = np.arange(count)
    starts, ends = outputs * size // count, -(-(outputs + 1) * size // count)
    widths = ends - starts
    return [
        (np.minimum(starts + tap, ends - 1), np.where(tap < widths, 1 / widths, 0))
        for tap in range(widths.max(initial=0))
    ]


def nearest_taps(size: int, count: int, scale: float | None, align_corners: bool, exact: bool = False) -> Taps:
    """ATen computes in float32; the exact form looks at the middle of an output instead of its edge."""
    if not exact and count in (size, 2 * size):
        scale = None  # ATen does not ask what the scale was
    positions = np.arange(count, dtype=np.float32) + np.float32(0.5 * exact)
    sources = np.floor(positions * np.float32(_step(size, count, scale))).astype(np.int32)
    return [(np.minimum(sources, size - 1), np.ones(count))]


def linear_taps(size: int, count: int, scale: float | None, align_corners: bool) -> Taps:
    scale = None if size == count else scale  # ATen copies then
    positions = np.maximum(_positions(size, count, scale, align_corners), 0)
    sources = np.minimum(np.floor(positions).astype(np.int32), size - 1)
    ahead = np.minimum(positions - sources, 1)
    return [(sources, 1 - ahead), (np.minimum(sources + 1, size - 1), ahead)]


def cubic_taps(size: int, count: int, scale: float | None, align_corners: bool) -> Taps:
    """Keys' convolution with a = -0.75; the border is repeated."""
    positions = _positions(size, count, scale, align_corners)
    sources = np.floor(positions).astype(np.int32)
    ahead, a = positions - sources, -0.75

    def near(x):
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x):
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    weights = [far(ahead + 1), near(ahead), near(1 - ahead), far(2 - ahead)]
    return [(np.clip(sources + tap, 0, size - 1), weight) for tap, weight in enumerate(weights, -1)]


def antialias_taps(
    size: int, count: int, scale: float | None, align_corners: bool, reach: int, kernel: Callable
) -> Taps:
    """Where the image shrinks, `kernel` grows with the step, so that every input counts."""
    if align_corners:
        step = (size - 1) / (count - 1) if count > 1 else 0.0
    else:
        step = _step(size, count, scale)
    stretch = max(step, 1.0)
    centers, support = step * (np.arange(count) + 0.5), reach * stretch
    starts = np.maximum((centers - support + 0.5).astype(np.int64), 0)
    widths = np.minimum((centers + support + 0.5).astype(np.int64), size) - starts
    inputs = starts[:, None] + np.arange(widths.max(initial=0))
    weights = kernel((inputs - centers[:, None] + 0.5) / stretch)
    weights = np.where(inputs < (starts + widths)[:, None], weights, 0)
    weights = weights / weights.sum(1, keepdims=True)
    return list(zip(np.minimum(inputs, size - 1).T, weights.T))


def _triangle(x: np.ndarray) -> np.ndarray:
    return np.maximum(1 - np.abs(x), 0)


def _keys(x: np.ndarray) -> np.ndarray:
    """Keys' convolution with a = -0.5."""
    x, a = np.abs(x), -0.5
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _lanczos(x: np.ndarray) -> np.ndarray:
    return np.where((-3 <= x) & (x < 3), np.sinc(x) * np.sinc(x / 3), 0)


def _positions(size: int, count: int, scale: float | None, align_corners: bool) -> np.ndarray:
    """Where the outputs lie between the inputs."""
    outputs = np.arange(count)
    if align_corners:
        return outputs * ((size - 1) / (count - 1) if count > 1 else 0.0)
    return (outputs + 0.5) * _step(size, count, scale) - 0.5


def _step(size: int, count: int, scale: float | None) -> float:
    return 1 / scale if scale is not None and scale > 0 else size / count


def adaptive_avg_pool(self: Array, output_size: tuple[int, ...]) -> Array:
    return resample(self, list(map(average_taps, self.shape[-len(output_size) :], output_size)))


def adaptive_avg_pool_backward(grad_output: Array, self: Array, rank: int) -> Array:
    sizes = self.shape[-rank:], grad_output.shape[-rank:]
    return resample_backward(grad_output, self.shape, list(map(average_taps, *sizes)))


def upsample(
    self: Array,
    output_size: tuple[int, ...],
    make_taps: Callable[..., Taps],
    align_corners: bool = False,
    **scales: float | None,
) -> Array:
    """One of `scales` for each axis: how the caller named the factor, from which the size was rounded."""
    sizes = zip(self.shape[2:], output_size, scales.values(), strict=True)
    return resample(self, [make_taps(*each, align_corners) for each in sizes])


def upsample_backward(
    grad_output: Array,
    output_size: tuple[int, ...],
    input_size: tuple[int, ...],
    make_taps: Callable[..., Taps],
    align_corners: bool = False,
    **scales: float | None,
) -> Array:
    sizes = zip(input_size[2:], output_size, scales.values(), strict=True)
    return resample_backward(grad_output, input_size, [make_taps(*each, align_corners) for each in sizes])


nearest_exact_taps = partial(nearest_taps, exact=True)
adaptive_avg_pool2d_backward, adaptive_avg_pool3d_backward = (
    partial(adaptive_avg_pool_backward, rank=rank) for rank in (2, 3)
)
nearest, nearest_backward = (partial(each, make_taps=nearest_taps) for each in (upsample, upsample_backward))
nearest_exact, nearest_exact_backward = (
    partial(each, make_taps=nearest_exact_taps) for each in (upsample, upsample_backward)
)
linear, linear_backward = (partial(each, make_taps=linear_taps) for each in (upsample, upsample_backward))
cubic, cubic_backward = (partial(each, make_taps=cubic_taps) for each in (upsample, upsample_backward))
linear_aa_taps, cubic_aa_taps, lanczos_aa_taps = (
    partial(antialias_taps, reach=reach, kernel=kernel) for reach, kernel in ((1, _triangle), (2, _keys), (3, _lanczos))
)
linear_aa, linear_aa_backward = (partial(each, make_taps=linear_aa_taps) for each in (upsample, upsample_backward))
cubic_aa, cubic_aa_backward = (partial(each, make_taps=cubic_aa_taps) for each in (upsample, upsample_backward))
lanczos_aa, lanczos_aa_backward = (partial(each, make_taps=lanczos_aa_taps) for each in (upsample, upsample_backward))
