"""Normalization: subtract a mean, divide by a deviation, scale and shift. Statistics are kept in computation dtype."""

import math

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.opmath import opmath

Axes = tuple[int, ...]


def statistics(value: Array, axes: Axes) -> tuple[Array, Array]:
    """Mean and biased variance over `axes`, which stay with size 1."""
    mean = value.mean(axes, keepdims=True)
    return mean, jnp.square(value - mean).mean(axes, keepdims=True)


def affine(value: Array, weight: Array | None, bias: Array | None, shape: tuple[int, ...]) -> Array:
    """value * weight + bias, where `shape` places the parameters against the value."""
    if weight is not None:
        value = value * opmath(weight).reshape(shape)
    if bias is not None:
        value = value + opmath(bias).reshape(shape)
    return value


def input_gradient(grad: Array, normalized: Array, rstd: Array, axes: Axes) -> Array:
    """Through normalized = (input - mean) * rstd, whose statistics over `axes` depend on the input too."""
    mean_of_grad = grad.mean(axes, keepdims=True)
    return rstd * (grad - mean_of_grad - normalized * (grad * normalized).mean(axes, keepdims=True))


def parameter_dtype(weight: Array | None, bias: Array | None, input: Array) -> jnp.dtype:
    """Statistics and their gradients come in the parameters' dtype (mixed precision keeps float32 ones)."""
    return next((parameter.dtype for parameter in (weight, bias) if parameter is not None), input.dtype)


def layer_norm(
    input: Array, normalized_shape: tuple[int, ...], weight: Array | None, bias: Array | None, eps: Array
) -> tuple[Array, Array, Array]:
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    value = opmath(input)
    mean, variance = statistics(value, axes)
    rstd = lax.rsqrt(variance + eps)
    output = affine((value - mean) * rstd, weight, bias, normalized_shape)
    dtype = parameter_dtype(weight, bias, input)
    return output.astype(input.dtype), mean.astype(dtype), rstd.astype(dtype)


def layer_norm_backward(
    grad_out: Array,
    input: Array,
    normalized_shape: tuple[int, ...],
    mean: Array,
    rstd: Array,
    weight: Array | None,
    bias: Array | None,
    output_mask: tuple[bool, bool, bool],
) -> tuple[Array | None, Array | None, Array | None]:
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    batch = tuple(range(input.ndim - len(normalized_shape)))
    grad, rstd = opmath(grad_out), opmath(rstd)
    normalized = (opmath(input) - opmath(mean)) * rstd
    dtype = parameter_dtype(weight, bias, input)
    weighted = affine(grad, weight, None, normalized_shape)
    return (
        input_gradient(weighted, normalized, rstd, axes).astype(input.dtype) if output_mask[0] else None,
        (grad * normalized).sum(batch).astype(dtype) if output_mask[1] else None,
        grad.sum(batch).astype(dtype) if output_mask[2] else None,
    )


def group_norm(
    input: Array, weight: Array | None, bias: Array | None, N: int, C: int, HxW: int, group: int, eps: Array
) -> tuple[Array, Array, Array]:
    value = opmath(input).reshape(N, group, C // group * HxW)
    mean, variance = statistics(value, (2,))
    rstd = lax.rsqrt(variance + eps)
    normalized = ((value - mean) * rstd).reshape(N, C, HxW)
    output = affine(normalized, weight, bias, (C, 1)).reshape(input.shape)
    dtype = parameter_dtype(weight, bias, input)
    return output.astype(input.dtype), mean.reshape(N, group).astype(dtype), rstd.reshape(N, group).astype(dtype)


def group_norm_backward(
    grad_out: Array,
    input: Array,
    mean: Array,
    rstd: Array,
    weight: Array | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: tuple[bool, bool, bool],
) -> tuple[Array | None, Array | None, Array | None]:
    grad, rstd = opmath(grad_out).reshape(N, C, HxW), opmath(rstd)[:, :, None]
    normalized = (opmath(input).reshape(N, group, C // group * HxW) - opmath(mean)[:, :, None]) * rstd
    dtype = parameter_dtype(weight, None, input)
    weighted = affine(grad, weight, None, (C, 1)).reshape(N, group, C // group * HxW)
    of_input = input_gradient(weighted, normalized, rstd, (2,)).reshape(input.shape)
    return (
        of_input.astype(input.dtype) if output_mask[0] else None,
        (grad * normalized.reshape(N, C, HxW)).sum((0, 2)).astype(dtype) if output_mask[1] else None,
        grad.sum((0, 2)).astype(dtype) if output_mask[2] else None,
    )


def batch_norm(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    momentum: Array,
    eps: Array,
) -> tuple[Array | None, ...]:
    """Output, the statistics that the backward needs (none in evaluation), and the new running statistics."""
    axes, shape = _around_channels(input)
    value, dtype = opmath(input), parameter_dtype(weight, running_mean, input)
    nothing = jnp.zeros((0,), dtype)
    if input.size == 0:
        if training:
            raise ValueError("there are no elements to take statistics of")  # so does the CPU, whose message is shown
        return input, nothing, nothing, None, None  # no parameter is read: they need not fit the channels
    _refuse_other_channels(input.shape[1], weight, bias, running_mean, running_var)
    if not training:
        rstd = lax.rsqrt(opmath(running_var) + eps).reshape(shape)
        output = affine((value - opmath(running_mean).reshape(shape)) * rstd, weight, bias, shape)
        return output.astype(input.dtype), nothing, nothing, None, None
    mean, variance = statistics(value, axes)
    rstd = lax.rsqrt(variance + eps)
    output = affine((value - mean) * rstd, weight, bias, shape)
    unbiased = variance * _bessel(input, axes)
    return (
        output.astype(input.dtype),
        mean.reshape(-1).astype(dtype),
        rstd.reshape(-1).astype(dtype),
        _blend(running_mean, mean, momentum),
        _blend(running_var, unbiased, momentum),
    )


def batch_norm_no_stats(
    input: Array, weight: Array | None, bias: Array | None, training: bool, momentum: Array, eps: Array
) -> tuple[Array | None, ...]:
    if not training:
        raise ValueError("there are no statistics to normalize with")  # so says the CPU
    return batch_norm(input, weight, bias, None, None, True, momentum, eps)[:3]


def batch_norm_with_update(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    momentum: Array,
    eps: Array,
) -> tuple[Array | None, ...]:
    """As batch_norm in training. The reserve is for kernels of vendors."""
    *results, new_mean, new_var = batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return *results, jnp.zeros((0,), jnp.uint8), new_mean, new_var


def batch_norm_update_stats(
    input: Array, running_mean: Array | None, running_var: Array | None, momentum: Array
) -> tuple[Array | None, ...]:
    """Mean and biased variance, and the new running statistics."""
    if not input.size:
        raise ValueError("the CPU refuses")
    axes, _ = _around_channels(input)
    mean, variance = statistics(opmath(input), axes)
    dtype = parameter_dtype(running_mean, None, input)
    unbiased = variance * _bessel(input, axes)
    return (
        mean.reshape(-1).astype(dtype),
        variance.reshape(-1).astype(dtype),
        _blend(running_mean, mean, momentum),
        _blend(running_var, unbiased, momentum),
    )


def batch_norm_with_update_backward(
    grad_out: Array,
    input: Array,
    weight: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    save_mean: Array | None,
    save_var: Array | None,
    update: bool,
    eps: Array,
    output_mask: tuple[bool, bool, bool],
    reserve: Array,
) -> tuple[Array | None, Array | None, Array | None]:
    """`save_var` is one over the deviation, as it is for batch_norm_backward."""
    statistics_ = running_mean, running_var, save_mean, save_var
    return batch_norm_backward(grad_out, input, weight, *statistics_, update, eps, output_mask)


def batch_norm_backward(
    grad_out: Array,
    input: Array,
    weight: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    save_mean: Array | None,
    save_invstd: Array | None,
    train: bool,
    eps: Array,
    output_mask: tuple[bool, bool, bool],
) -> tuple[Array | None, Array | None, Array | None]:
    axes, shape = _around_channels(input)
    mean, rstd = (save_mean, opmath(save_invstd)) if train else (running_mean, lax.rsqrt(opmath(running_var) + eps))
    grad, rstd = opmath(grad_out), rstd.reshape(shape)
    normalized = (opmath(input) - opmath(mean).reshape(shape)) * rstd
    weighted = affine(grad, weight, None, shape)
    of_input = input_gradient(weighted, normalized, rstd, axes) if train else weighted * rstd
    dtype = parameter_dtype(weight, None, input)
    return (
        of_input.astype(input.dtype) if output_mask[0] else None,
        (grad * normalized).sum(axes).astype(dtype) if output_mask[1] else None,
        grad.sum(axes).astype(dtype) if output_mask[2] else None,
    )


def _around_channels(input: Array) -> tuple[Axes, tuple[int, ...]]:
    """Every axis but that of the channels, and the shape that lays a vector of channels along it."""
    axes = tuple(axis for axis in range(input.ndim) if axis != 1)
    return axes, tuple(input.shape[1] if axis == 1 else 1 for axis in range(input.ndim))


def _bessel(input: Array, axes: Axes) -> float:
    """From the biased variance to that of which the sample was taken."""
    count = math.prod(input.shape[axis] for axis in axes)
    return count / max(count - 1, 1)


def _refuse_other_channels(channels: int, *parameters: Array | None) -> None:
    """An error of our own: the CPU's kernel reads beyond the end of parameters that are too short."""
    for parameter in parameters:
        if parameter is not None and parameter.size != channels:
            sizes = f"{parameter.size} elements for {channels} channels"
            raise NotImplementedError(f"a parameter of batch norm has {sizes}")


def _blend(running: Array | None, new: Array, momentum: Array) -> Array | None:
    if running is None:
        return None
    return (momentum * new.reshape(-1) + (1 - momentum) * opmath(running)).astype(running.dtype)


def weight_norm(v: Array, g: Array, dim: int) -> tuple[Array, Array]:
    """v * g / |v|, and the norm, which is taken over all axes but `dim`."""
    value = opmath(v)
    norm = jnp.sqrt(jnp.square(value).sum(_all_but(dim, v), keepdims=True))
    return (value * (opmath(g) / norm)).astype(v.dtype), norm


def weight_norm_backward(
    grad_w: Array, saved_v: Array, saved_g: Array, saved_norms: Array, dim: int
) -> tuple[Array, Array]:
    grad, value, norm = opmath(grad_w), opmath(saved_v), opmath(saved_norms)
    along = (grad * value).sum(_all_but(dim, saved_v), keepdims=True)
    of_v = opmath(saved_g) / norm * (grad - value * along / jnp.square(norm))
    return of_v.astype(saved_v.dtype), (along / norm).astype(saved_g.dtype)


def _all_but(dim: int, array: Array) -> Axes:
    return tuple(axis for axis in range(array.ndim) if axis != dim % array.ndim)
