"""Pooling over the trailing axes. A window is reduced one axis at a time, as a few strided slices that XLA fuses."""

import math
from functools import partial, reduce
from operator import add

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from torchtpu.lowerings.checked import Checked, checked
from torchtpu.lowerings.opmath import opmath
from torchtpu.lowerings.resample import average_taps


class Windows:
    """The windows along one axis: window `o` holds the positions o * stride - padding + tap * dilation."""

    def __init__(self, axis: int, size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool):
        self.axis, self.size = axis, size
        self.kernel, self.stride, self.padding, self.dilation = kernel, stride, padding, dilation
        slack = size + 2 * padding - dilation * (kernel - 1) - 1
        self.count = (slack + (stride - 1 if ceil_mode else 0)) // stride + 1
        if ceil_mode and (self.count - 1) * stride >= size + padding:
            self.count -= 1  # a window has to start inside the input or its left padding

    def taps(self, array: Array, filler) -> list[Array]:
        """For each tap, what every window holds there, and `filler` where that is outside of the array."""
        span = (self.count - 1) * self.stride + 1
        reach = span + self.dilation * (self.kernel - 1)
        margins = [(0, 0, 0)] * array.ndim
        margins[self.axis] = (self.padding, reach - self.size - self.padding, 0)
        padded = lax.pad(array, jnp.asarray(filler, array.dtype), margins)
        firsts = [tap * self.dilation for tap in range(self.kernel)]
        return [lax.slice_in_dim(padded, first, first + span, self.stride, self.axis) for first in firsts]

    def sizes(self, include_padding: bool) -> np.ndarray:
        """What an average over each window divides by; the positions that ceil_mode adds never count."""
        starts = np.arange(self.count) * self.stride - self.padding
        ends = np.minimum(starts + self.kernel, self.size + self.padding)
        if not include_padding:
            starts, ends = np.maximum(starts, 0), np.minimum(ends, self.size)
        return np.maximum(ends - starts, 1)


class Bins:
    """The windows of adaptive pooling along one axis, which differ in size."""

    def __init__(self, axis: int, size: int, count: int):
        self.axis, self.members = axis, average_taps(size, count)

    def taps(self, array: Array, filler) -> list[Array]:
        shape = [-1 if each == self.axis % array.ndim else 1 for each in range(array.ndim)]
        return [
            jnp.where((weight > 0).reshape(shape), jnp.take(array, source, self.axis), jnp.asarray(filler, array.dtype))
            for source, weight in self.members
        ]


class Samples:
    """The windows of fractional pooling along one axis, one beside the other at steps that a random number decides."""

    def __init__(self, axis: int, size: int, kernel: int, count: int, sample: Array):
        self.axis, self.kernel = axis, kernel
        index = jnp.arange(count - 1, dtype=sample.dtype)
        step = np.asarray((size - kernel) / (count - 1) if count > 1 else 0, sample.dtype)
        inner = jnp.floor((index + sample[..., None]) * step) - jnp.floor(sample * step)[..., None]
        last = jnp.full((*sample.shape, 1), size - kernel, sample.dtype)
        self.starts = jnp.concatenate([inner, last], -1).astype(jnp.int32)  # [batch, channel, window]

    def taps(self, array: Array, filler) -> list[Array]:
        del filler  # they are all inside
        shape = [1] * array.ndim
        shape[self.axis] = self.starts.shape[-1]
        shape[: self.starts.ndim - 1] = self.starts.shape[:-1]
        return [
            jnp.take_along_axis(array, (self.starts + tap).reshape(shape), self.axis, mode="clip")
            for tap in range(self.kernel)
        ]


def fractional_max_pool(
    self: Array, kernel_size: tuple[int, ...], output_size: tuple[int, ...], random_samples: Array
) -> tuple[Array, Array]:
    """random_samples: [batch, channel, axis], the innermost axis first in two dimensions, the outermost in three."""
    rank = len(kernel_size)
    batch = self.reshape(-1, *self.shape[-rank - 1 :])
    order = range(rank) if rank == 3 else reversed(range(rank))
    samples = [random_samples[:, :, axis] for axis in order]
    axes = list(map(Samples, range(2, 2 + rank), batch.shape[2:], kernel_size, output_size, samples))
    return tuple(each.reshape(*self.shape[:-rank], *output_size) for each in max_with_indices(batch, axes))


def windows_of(self: Array, rank: int, kernel_size, stride, padding, dilation, ceil_mode: bool) -> list[Windows]:
    """The pooled axes, outermost first. A lone number counts for each of them; no stride means the kernel's size."""
    axes = range(self.ndim - rank, self.ndim)
    numbers = (kernel_size, stride or kernel_size, padding, dilation)
    each_axis = (each * rank if len(each) == 1 else each for each in numbers)
    return [Windows(*args, ceil_mode) for args in zip(axes, self.shape[-rank:], *each_axis, strict=True)]


def max_pool_with_indices(
    self: Array,
    kernel_size: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    ceil_mode: bool,
    rank: int,
) -> tuple[Array, Array]:
    return max_with_indices(self, windows_of(self, rank, kernel_size, stride, padding, dilation, ceil_mode))


def adaptive_max_pool(self: Array, output_size: tuple[int, ...]) -> tuple[Array, Array]:
    rank = len(output_size)
    return max_with_indices(self, list(map(Bins, range(-rank, 0), self.shape[-rank:], output_size)))


def max_with_indices(self: Array, axes: list[Windows] | list[Bins]) -> tuple[Array, Array]:
    """The largest element of each window (the first of several, the last nan) and its position in the flat plane."""
    lowest = -jnp.inf if jnp.issubdtype(self.dtype, jnp.floating) else jnp.iinfo(self.dtype).min
    outside = -1

    def better(best, candidate):
        (value, position), (other, other_position) = best, candidate
        take = (other_position != outside) & ((other > value) | (other != other) | (position == outside))
        return jnp.where(take, other, value), jnp.where(take, other_position, position)

    plane = self.shape[-len(axes) :]
    positions = jnp.broadcast_to(jnp.arange(np.prod(plane), dtype=jnp.int32).reshape(plane), self.shape)
    best = self, positions
    # Innermost axis first: ties are decided in row-major order.
    for windows in reversed(axes):
        values, positions = best
        best = reduce(better, zip(windows.taps(values, lowest), windows.taps(positions, outside)))
    return best[0], best[1].astype(jnp.int64)


def max_pool_with_indices_backward(
    grad_output: Array,
    self: Array,
    kernel_size: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    ceil_mode: bool,
    indices: Array,
    rank: int,
) -> Array:
    """Each gradient goes where its maximum came from; overlapping windows add up."""
    return scatter_to_plane(grad_output, self, indices, rank)


def scatter_to_plane(grad_output: Array, self: Array, indices: Array, rank: int) -> Array:
    """Adds each gradient to its flat position in a plane of zeros: the last `rank` axes of `self`."""
    planes, plane = int(np.prod(self.shape[:-rank])), int(np.prod(self.shape[-rank:]))
    windows = int(np.prod(grad_output.shape[-rank:]))
    rows = jnp.arange(planes, dtype=jnp.int32)[:, None]
    positions = indices.astype(jnp.int32).reshape(planes, windows)
    zeros = jnp.zeros((planes, plane), opmath(grad_output).dtype)
    sums = zeros.at[rows, positions].add(opmath(grad_output).reshape(planes, windows))
    return sums.reshape(self.shape).astype(grad_output.dtype)


def avg_pool(
    self: Array,
    kernel_size: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    rank: int,
) -> Array:
    total, divisor = opmath(self), 1
    for windows in windows_of(self, rank, kernel_size, stride, padding, (1,), ceil_mode):
        total = reduce(add, windows.taps(total, 0))
        divisor = np.multiply.outer(divisor, windows.sizes(count_include_pad))
    divisor = np.asarray(divisor_override or divisor, total.dtype)
    return lax.div(total, jnp.broadcast_to(divisor, total.shape)).astype(self.dtype)


max_pool2d, max_pool3d = (partial(max_pool_with_indices, rank=rank) for rank in (2, 3))
max_pool2d_backward, max_pool3d_backward = (partial(max_pool_with_indices_backward, rank=rank) for rank in (2, 3))
adaptive_max_pool2d_backward, adaptive_max_pool3d_backward = (partial(scatter_to_plane, rank=rank) for rank in (2, 3))


def fractional_max_pool_backward(
    grad_output: Array, self: Array, kernel_size: tuple[int, ...], output_size: tuple[int, ...], indices: Array
) -> Array:
    return scatter_to_plane(grad_output, self, indices, len(kernel_size))


def max_unpool2d(self: Array, indices: Array, output_size: tuple[int, ...]) -> Checked:
    """Each element goes where `indices` say in a plane of zeros."""
    rank, size = len(output_size), math.prod(output_size)
    planes = math.prod(self.shape[:-rank])
    values, positions = (each.reshape(planes, math.prod(self.shape[-rank:])) for each in (self, indices))
    rows = jnp.arange(planes, dtype=jnp.int32)[:, None]
    flat = jnp.zeros((planes, size), self.dtype).at[rows, positions.astype(jnp.int32)].set(values, mode="drop")
    return checked(flat.reshape(*self.shape[:-rank], *output_size), jnp.all((indices >= 0) & (indices < size)))


def max_unpool3d(
    self: Array, indices: Array, output_size: tuple[int, ...], stride: tuple[int, ...], padding: tuple[int, ...]
) -> Checked:
    del stride, padding  # which output_size follows from
    return max_unpool2d(self, indices, output_size)


avg_pool2d, avg_pool3d = (partial(avg_pool, rank=rank) for rank in (2, 3))
