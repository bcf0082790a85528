"""One step of an optimizer over all of its parameters, and what a gradient scaler does around it: one program each.

Lists have an array for each parameter. A step that a scaler found infinities for (`found_inf` is 1) changes nothing.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings import arithmetic
from torchtpu.lowerings.opmath import opmath
from torchtpu.lowerings.promotion import Scalar, where

Column = Sequence[Array]


def adam(
    self: Column,
    grads: Column,
    exp_avgs: Column,
    exp_avg_sqs: Column,
    max_exp_avg_sqs: Column,
    state_steps: Column,
    lr: Scalar,
    beta1: Scalar,
    beta2: float,
    weight_decay: Scalar,
    eps: Scalar,
    amsgrad: bool,
    maximize: bool,
    grad_scale: Array | None,
    found_inf: Array | None,
    decoupled: bool = False,
) -> tuple[Column, ...]:
    """decoupled: the weights decay by themselves, not by a part of the gradient (AdamW)."""

    def step(param, grad, count, *state):
        if decoupled:
            param = param * (1 - lr * weight_decay)
        else:
            grad = _decayed(grad, param, weight_decay)
        return _adam(param, grad, count, lr, beta1, beta2, eps, *state)

    states = [exp_avgs, exp_avg_sqs, max_exp_avg_sqs]
    return _update(step, self, grads, states, state_steps, maximize, grad_scale, found_inf)


adamw = partial(adam, decoupled=True)


def _adam(
    param: Array,
    grad: Array,
    count: Array,
    lr: Scalar,
    beta1: Scalar,
    beta2: float,
    eps: Scalar,
    avg: Array,
    avg_sq: Array,
    max_avg_sq: Array | None = None,
) -> tuple[Array, ...]:
    """With amsgrad there is a max_avg_sq."""
    avg = arithmetic.lerp(avg, grad, 1 - beta1)
    avg_sq = beta2 * avg_sq + (1 - beta2) * grad * grad
    state = (avg, avg_sq) if max_avg_sq is None else (avg, avg_sq, jnp.maximum(max_avg_sq, avg_sq))
    root = jnp.sqrt(_one_minus_power(beta2, count))
    deviation = jnp.sqrt(state[-1]) / root + eps
    return param - lr / _one_minus_power(beta1, count) * avg / deviation, *state


def sgd(
    self: Column,
    grads: Column,
    momentum_buffer_list: Column,
    weight_decay: Scalar,
    momentum: Scalar,
    lr: Scalar,
    dampening: Scalar,
    nesterov: bool,
    maximize: bool,
    is_first_step: bool,
    grad_scale: Array | None,
    found_inf: Array | None,
) -> tuple[Column, ...]:
    """Without momentum there are no buffers."""

    def step(param, grad, _, buffer=None):
        grad = _decayed(grad, param, weight_decay)
        if buffer is None:
            return (param - lr * grad,)
        buffer = grad if is_first_step else momentum * buffer + (1 - dampening) * grad
        direction = grad + momentum * buffer if nesterov else buffer
        return param - lr * direction, buffer

    return _update(step, self, grads, [momentum_buffer_list], None, maximize, grad_scale, found_inf)


def adagrad(state_steps: Column, **arguments) -> tuple[Column, ...]:
    """As `adagrad_tensor_lr`; this schema says as well that the counters are written, though they are not."""
    return *adagrad_tensor_lr(state_steps=state_steps, **arguments), state_steps


def adagrad_tensor_lr(
    self: Column,
    grads: Column,
    state_sums: Column,
    state_steps: Column,
    lr: Scalar,
    lr_decay: Scalar,
    weight_decay: Scalar,
    eps: Scalar,
    maximize: bool,
    grad_scale: Array | None,
    found_inf: Array | None,
) -> tuple[Column, ...]:
    def step(param, grad, count, total):
        grad = _decayed(grad, param, weight_decay)
        total = total + grad * grad
        rate = lr / (1 + (count - 1) * lr_decay)
        return param - rate * grad / (jnp.sqrt(total) + eps), total

    return _update(step, self, grads, [state_sums], state_steps, maximize, grad_scale, found_inf)


def check_and_unscale(self: Column, found_inf: Array, inv_scale: Array) -> tuple[Column, Array]:
    """The gradients times inv_scale; found_inf becomes 1 if one of them is not finite, and otherwise stays."""
    finite = [jnp.all(jnp.isfinite(grad)) for grad in self]
    unscaled = [(opmath(grad) * _element(inv_scale).astype(opmath(grad).dtype)).astype(grad.dtype) for grad in self]
    return unscaled, where(jnp.all(jnp.stack(finite)), found_inf, 1)


def update_scale(
    self: Array,
    growth_tracker: Array,
    found_inf: Array,
    scale_growth_factor: Scalar,
    scale_backoff_factor: Scalar,
    growth_interval: int,
) -> tuple[Array, Array]:
    """Infinities make the scale smaller; so many steps in a row without any make it larger, while it stays finite."""
    found = _element(found_inf) != 0
    successes = growth_tracker + 1
    grows = successes == growth_interval
    grown = self * scale_growth_factor
    grown = jnp.where(grows & jnp.isfinite(grown), grown, self)
    return jnp.where(found, self * scale_backoff_factor, grown), where(found | grows, 0, successes)


def _update(
    step: Callable,
    params: Column,
    grads: Column,
    states: list[Column],
    counts: Column | None,
    maximize: bool,
    grad_scale: Array | None,
    found_inf: Array | None,
) -> tuple[Column, ...]:
    """The new parameters, the gradients without their scale, and the new states, of which some may be empty lists.

    step: (parameter, gradient, how many steps with this one, states...) -> new parameter, new states...
    """
    columns = [params, grads, *filter(len, states)]
    results: list[list[Array]] = [[] for _ in columns]
    for count, *row in zip(counts or [None] * len(params), *columns):
        param, grad, *state = map(opmath, row)
        if grad_scale is not None:
            grad = grad / _element(grad_scale).astype(grad.dtype)
        param, *state = step(param, -grad if maximize else grad, count, *state)
        for result, old, new in zip(results, row, (param, grad, *state)):
            new = new.astype(old.dtype)
            result.append(new if found_inf is None else jnp.where(_element(found_inf) == 1, old, new))
    filled = iter(results)
    return next(filled), next(filled), *(next(filled) if state else [] for state in states)


def _decayed(grad: Array, param: Array, weight_decay: Scalar) -> Array:
    """With the slope of weight_decay / 2 * param ** 2; nothing at all of a parameter that is not to decay."""
    decays = not isinstance(weight_decay, (int, float)) or weight_decay != 0
    return grad + weight_decay * param if decays else grad


def _element(array: Array) -> Array:
    """The only one of an array, which may be 0-d or not."""
    return lax.index_in_dim(array.reshape(-1), 0, keepdims=False)


def _one_minus_power(base: Scalar, exponent: Array) -> Array:
    """1 - base ** exponent, with all digits where the power is close to 1."""
    logarithm = jnp.log(base) if isinstance(base, Array) else math.log(base) if base else -math.inf
    return -jnp.expm1(exponent * logarithm)
