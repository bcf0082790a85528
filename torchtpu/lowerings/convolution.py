"""Convolutions of any rank, as ATen describes them: (batch, channels, *space) and (out, in / groups, *window)."""

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
