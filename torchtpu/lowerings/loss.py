"""Losses. `reduction` is ATen's code: 0 keeps every element, 1 is the mean, 2 the sum."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings.checked import Checked, checked
from torchtpu.lowerings.opmath import opmath

NONE, MEAN, SUM = range(3)


def reduced(loss: Array, reduction: int) -> Array:
    return {NONE: lambda: loss, MEAN: loss.mean, SUM: loss.sum}[reduction]()


def mse_loss(self: Array, target: Array, reduction: int) -> Array:
    return reduced(jnp.square(self - target), reduction)


def smooth_l1_loss(self: Array, target: Array, reduction: int, beta: Array) -> Array:
    distance = jnp.abs(self - target)
    width = jnp.where(beta > 0, beta, 1)  # without width there is no parabola, but its gradient is still traced
    return reduced(jnp.where(distance < beta, 0.5 * distance * distance / width, distance - 0.5 * beta), reduction)


def huber_loss(self: Array, target: Array, reduction: int, delta: Array) -> Array:
    distance = jnp.abs(self - target)
    return reduced(
        jnp.where(distance < delta, 0.5 * distance * distance, delta * (distance - 0.5 * delta)), reduction
    )


def pointwise_gradient(loss: Callable[[Array], Array], self: Array, grad_output: Array, reduction: int) -> Array:
    """Of `loss`, reduced, at `self`. Double backward hands over a grad_output as large as the loss before its reduction."""
    values, pull_back = jax.vjp(loss, self)
    weights = grad_output / values.size if reduction == MEAN else grad_output
    (gradient,) = pull_back(jnp.broadcast_to(weights, values.shape).astype(values.dtype))
    return gradient


def mse_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int) -> Array:
    return pointwise_gradient(lambda x: mse_loss(x, target, NONE), self, grad_output, reduction)


def smooth_l1_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int, beta: Array) -> Array:
    return pointwise_gradient(lambda x: smooth_l1_loss(x, target, NONE, beta), self, grad_output, reduction)


def huber_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int, delta: Array) -> Array:
    return pointwise_gradient(lambda x: huber_loss(x, target, NONE, delta), self, grad_output, reduction)


def binary_cross_entropy(self: Array, target: Array, weight: Array | None, reduction: int) -> Checked:
    """Logarithms are bounded below by -100, so that a certain and wrong prediction has a finite loss."""
    loss = (target - 1) * jnp.maximum(jnp.log1p(-self), -100) - target * jnp.maximum(jnp.log(self), -100)
    value = reduced(loss if weight is None else loss * weight, reduction)
    return checked(value, jnp.all((self >= 0) & (self <= 1)))


def binary_cross_entropy_backward(
    grad_output: Array, self: Array, target: Array, weight: Array | None, reduction: int
) -> Array:
    grad = grad_output * (self - target) / jnp.maximum((1 - self) * self, 1e-12)
    if weight is not None:
        grad = grad * weight
    return grad / self.size if reduction == MEAN else grad


def binary_cross_entropy_with_logits(
    self: Array, target: Array, weight: Array | None, pos_weight: Array | None, reduction: int
) -> Array:
    log_sigmoid = jnp.minimum(self, 0) - jnp.log1p(jnp.exp(-jnp.abs(self)))
    positive = 1 if pos_weight is None else 1 + (pos_weight - 1) * target
    loss = (1 - target) * self - positive * log_sigmoid
    return reduced(loss if weight is None else loss * weight, reduction)


def multi_margin_loss(
    self: Array, target: Array, p: int, margin: Array, weight: Array | None, reduction: int
) -> Checked:
    """How far each class comes within `margin` of the right one, to the power of `p`; the mean over the classes."""
    rows = self.reshape(-1, self.shape[-1]) if self.ndim else self.reshape(1, 1)
    classes = rows.shape[1]
    label = jnp.clip(target.reshape(-1, 1), 0, classes - 1).astype(jnp.int32)
    lacking = margin - jnp.take_along_axis(rows, label, 1) + rows
    hinge = jnp.where((lacking > 0) & (jnp.arange(classes, dtype=jnp.int32) != label), lacking**p, 0)
    if weight is not None:
        hinge = hinge * weight[label]
    loss = jnp.sum(hinge, axis=1) / classes
    return checked(reduced(loss.reshape(target.shape), reduction), jnp.all((target >= 0) & (target < classes)))


def multilabel_margin_loss(self: Array, target: Array, reduction: int) -> tuple[Array, Array]:
    """How far each class that is no label comes within 1 of each that is one. Labels end before the first -1."""
    rows, labels = (x.reshape(-1, x.shape[-1] if x.ndim else 1) for x in (self, target))
    given = jnp.cumprod(labels >= 0, axis=1, dtype=jnp.int32) > 0
    label = jnp.where(given, labels, 0).astype(jnp.int32)
    classes = rows.shape[1]
    is_label = jnp.any((label[:, :, None] == jnp.arange(classes, dtype=jnp.int32)) & given[:, :, None], axis=1)
    lacking = 1 - jnp.take_along_axis(rows, label, 1, mode="clip")[:, :, None] + rows[:, None, :]
    counted = given[:, :, None] & ~is_label[:, None, :] & (lacking > 0)
    loss = jnp.sum(jnp.where(counted, lacking, 0), axis=(1, 2)) / classes
    ok = jnp.all((label >= 0) & (label < classes))
    is_label = is_label.reshape(self.shape).astype(self.dtype)
    return checked((reduced(loss.reshape(self.shape[:-1]), reduction), is_label), ok)


def multilabel_margin_loss_backward(
    grad_output: Array, self: Array, target: Array, reduction: int, is_target: Array
) -> Array:
    del is_target
    return pointwise_gradient(lambda x: multilabel_margin_loss(x, target, NONE).value[0], self, grad_output, reduction)


def multi_margin_loss_backward(
    grad_output: Array, self: Array, target: Array, p: int, margin: Array, weight: Array | None, reduction: int
) -> Array:
    loss = lambda x: multi_margin_loss(x, target, p, margin, weight, NONE).value  # noqa: E731
    return pointwise_gradient(loss, self, grad_output, reduction)


def nll_loss(
    self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> Checked:
    """The loss and the total weight that its mean divides by; classes are axis 1, or the only axis."""
    classes = _class_axis(self)
    counted = target != ignore_index
    label = jnp.where(counted, target, 0)
    in_range = (label >= 0) & (label < self.shape[classes])
    label = jnp.clip(label, 0, self.shape[classes] - 1).astype(jnp.int32)
    weights = jnp.where(counted, _weight_of(label, weight, self), 0)
    picked = jnp.take_along_axis(opmath(self), jnp.expand_dims(label, classes), classes).squeeze(classes)
    losses = jnp.where(counted, -picked, 0) * weights
    total = weights.sum()
    if reduction == NONE and self.ndim > 1:
        total = jnp.zeros_like(total)  # as ATen has it: of a single sample it reports the weight
    loss = {NONE: lambda: losses, MEAN: lambda: losses.sum() / total, SUM: losses.sum}[reduction]()
    return checked((loss.astype(self.dtype), total.astype(self.dtype)), jnp.all(in_range))


def nll_loss_backward(
    grad_output: Array,
    self: Array,
    target: Array,
    weight: Array | None,
    reduction: int,
    ignore_index: int,
    total_weight: Array,
) -> Array:
    """A comparison with every class instead of a scatter: it fuses, and needs no order."""
    classes = _class_axis(self)
    label = target.astype(jnp.int32)
    scale = opmath(grad_output) * _weight_of(label, weight, self)
    if reduction == MEAN:
        scale = scale / opmath(total_weight)
    every = jnp.arange(self.shape[classes], dtype=jnp.int32).reshape(-1, *(1,) * (self.ndim - classes - 1))
    hit = jnp.expand_dims(jnp.where(target == ignore_index, -1, label), classes) == every
    return jnp.where(hit, -jnp.expand_dims(scale, classes), 0).astype(self.dtype)


def _class_axis(self: Array) -> int:
    return 1 if self.ndim > 1 else 0


def _weight_of(label: Array, weight: Array | None, self: Array) -> Array:
    if weight is None:
        return jnp.ones(label.shape, opmath(self).dtype)
    return jnp.take(opmath(weight), label, mode="clip")
