"""Convolutions of any rank, as ATen describes them: (batch, channels, *space) and (out, in / groups, *window)."""

from functools import partial

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.opmath import opmath
from torchtpu.lowerings.vjp import vjp


def convolution(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    transposed: bool,
    output_padding: tuple[int, ...],
    groups: int,
) -> Array:
    convolve = transposed_convolution if transposed else direct_convolution
    result = convolve(input, weight, stride, padding, dilation, output_padding, groups)
    if bias is None:
        return result
    channels = bias.reshape(-1, *(1,) * len(stride))
    return (opmath(result) + opmath(channels)).astype(input.dtype)


def unbatched_convolution(
    self: Array,
    weight: Array,
    kernel_size: tuple[int, ...],
    bias: Array | None,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...] | None = None,
    output_padding: tuple[int, ...] | None = None,
    transposed: bool = False,
) -> Array:
    """ATen's direct kernels: without groups, and of a single image too. Its weight may come as a matrix."""
    rank = len(kernel_size)
    one, zero = (1,) * rank, (0,) * rank
    batch = self if self.ndim == rank + 2 else self[None]
    windows = weight.reshape(weight.shape[0], -1, *kernel_size)
    steps = stride, padding, dilation or one, transposed, output_padding or zero, 1
    result = convolution(batch, windows, bias, *steps)
    return result if self.ndim == rank + 2 else result[0]


def direct_convolution2d_backward(
    grad_output: Array,
    self: Array,
    weight: Array,
    kernel_size: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    output_mask: tuple[bool, ...] = (True, True, True),
) -> tuple[Array | None, Array | None, Array | None]:
    windows = weight.reshape(weight.shape[0], -1, *kernel_size)
    steps = stride, padding, (1, 1), False, (0, 0), 1
    of_input, of_weight, of_bias = convolution_backward(grad_output, self, windows, *steps, output_mask)
    return of_input, of_weight if of_weight is None else of_weight.reshape(weight.shape), of_bias


def convolution_backward(
    grad_output: Array,
    input: Array,
    weight: Array,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    transposed: bool,
    output_padding: tuple[int, ...],
    groups: int,
    output_mask: tuple[bool, ...],
) -> tuple[Array | None, Array | None, Array | None]:
    gradients = vjp(
        convolution,
        wrt=("input", "weight"),
        cotangent=grad_output,
        mask=output_mask[:2],
        arguments=dict(
            input=input,
            weight=weight,
            bias=None,
            stride=stride,
            padding=padding,
            dilation=dilation,
            transposed=transposed,
            output_padding=output_padding,
            groups=groups,
        ),
    )
    all_but_channels = tuple(axis for axis in range(grad_output.ndim) if axis != 1)
    return *gradients, opmath(grad_output).sum(all_but_channels).astype(weight.dtype) if output_mask[2] else None


def direct_convolution(input, weight, stride, padding, dilation, output_padding, groups) -> Array:
    return lax.conv_general_dilated(
        input,
        weight,
        window_strides=stride,
        padding=[(each, each) for each in padding],
        rhs_dilation=dilation,
        feature_group_count=groups,
    )


def transposed_convolution(input, weight, stride, padding, dilation, output_padding, groups) -> Array:
    """The adjoint of a direct convolution: the input is spread by the stride and met by the mirrored window."""
    space = range(2, input.ndim)
    # (groups * in, out, *window) to (groups * out, in, *window)
    windows = weight.reshape(groups, -1, *weight.shape[1:]).swapaxes(1, 2)
    windows = windows.reshape(-1, weight.shape[0] // groups, *weight.shape[2:])
    reach = [dilation[axis - 2] * (weight.shape[axis] - 1) - padding[axis - 2] for axis in space]
    return lax.conv_general_dilated(
        input,
        jnp.flip(windows, tuple(space)),
        window_strides=(1,) * len(stride),
        padding=[(each, each + extra) for each, extra in zip(reach, output_padding, strict=True)],
        lhs_dilation=stride,
        rhs_dilation=dilation,
        feature_group_count=groups,
    )


unbatched_transposed_convolution = partial(unbatched_convolution, transposed=True)
