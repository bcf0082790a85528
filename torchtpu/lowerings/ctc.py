"""Connectionist temporal classification: how likely a sequence of labels is, over all ways to stretch it over time.

A path walks through the labels with a blank before, between and behind them: its states, twice as many as labels and one
more. `log_alpha[n, t, s]` is the logarithm of all paths that are in state s at time t. Lengths are traced, one scalar for
each of the batch; `longest` is the greatest of `target_lengths`.
"""

import jax
import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.checked import Checked, checked


def ctc_loss(
    log_probs: Array,
    targets: Array,
    input_lengths: list[Array],
    target_lengths: list[Array],
    blank: int,
    zero_infinity: bool,
    longest: int,
) -> Checked:
    """The negative log likelihoods and log_alpha. `zero_infinity` is for the caller and the gradient."""
    times, batch, classes = log_probs.shape
    if not len(input_lengths) == len(target_lengths) == batch or not 0 <= blank < classes or not times:
        raise ValueError("wrong sizes")  # so says the CPU
    steps, labels = _lengths(input_lengths), _lengths(target_lengths)
    states, repeats = _states(targets, labels, blank, longest)
    emitted = _emitted(log_probs, states)
    start = jnp.where(jnp.arange(2 * longest + 1, dtype=jnp.int32) < jnp.minimum(2, 1 + labels[:, None]), emitted[0], -jnp.inf)

    def step(alpha: Array, emission: Array) -> tuple[Array, Array]:
        skipped = jnp.where(repeats, -jnp.inf, _shifted(alpha, 2))
        alpha = _log_sum(alpha, _shifted(alpha, 1), skipped) + emission
        return alpha, alpha

    _, later = lax.scan(step, start, emitted[1:])
    log_alpha = jnp.concatenate([start[None], later]).swapaxes(0, 1)
    last = jnp.take_along_axis(log_alpha, jnp.maximum(steps - 1, 0)[:, None, None], 1)[:, 0]
    at_end = jnp.take_along_axis(last, 2 * labels[:, None], 1)[:, 0]
    before = jnp.take_along_axis(last, jnp.maximum(2 * labels - 1, 0)[:, None], 1)[:, 0]
    likelihood = jnp.where(labels > 0, _log_sum(at_end, before), at_end)
    likelihood = jnp.where(steps > 0, likelihood, jnp.where(labels > 0, -jnp.inf, jnp.zeros_like(likelihood)))
    room = targets.shape[1] if targets.ndim > 1 else targets.size
    fits = labels <= room if targets.ndim > 1 else labels.sum(dtype=labels.dtype) == room
    return checked((-likelihood, log_alpha), jnp.all((steps >= 0) & (steps <= times) & (labels >= 0) & fits))


def ctc_loss_backward(
    grad: Array,
    log_probs: Array,
    targets: Array,
    input_lengths: list[Array],
    target_lengths: list[Array],
    neg_log_likelihood: Array,
    log_alpha: Array,
    blank: int,
    zero_infinity: bool,
) -> Array:
    """With respect to what log_softmax made log_probs of, as ATen has it: its own backward leaves that as it is."""
    steps, labels = _lengths(input_lengths), _lengths(target_lengths)
    longest = log_alpha.shape[2] // 2
    states, repeats = _states(targets, labels, blank, longest)
    emitted = _emitted(log_probs, states)
    number = jnp.arange(2 * longest + 1, dtype=jnp.int32)
    end = 2 * labels[:, None]
    is_last = (number == end) | ((number == end - 1) & (labels[:, None] > 0))
    may_skip = ~jnp.concatenate([repeats[:, 2:], jnp.ones((len(labels), 2), bool)[:, : number.size]], 1)

    def step(beta: Array, at: tuple[Array, Array]) -> tuple[Array, Array]:
        time, emission = at
        skipped = jnp.where(may_skip, _shifted(beta, -2), -jnp.inf)
        beta = _log_sum(beta, _shifted(beta, -1), skipped) + emission
        beta = jnp.where(time == steps[:, None] - 1, jnp.where(is_last, emission, -jnp.inf), beta)
        beta = jnp.where((time < steps[:, None]) & (number <= end), beta, -jnp.inf)
        return beta, beta

    times = jnp.arange(log_probs.shape[0], dtype=jnp.int32)
    _, beta = lax.scan(step, jnp.full(emitted.shape[1:], -jnp.inf, emitted.dtype), (times, emitted), reverse=True)
    # Alpha and beta have both counted the emission. Each state's share of all paths, then of each class that of its states.
    share = jnp.exp(log_alpha.swapaxes(0, 1) + beta - emitted + neg_log_likelihood[:, None])
    share = jnp.where((beta == -jnp.inf) & (emitted != -jnp.inf), 0, share)
    rows = jnp.arange(len(labels), dtype=jnp.int32)[:, None]
    by_class = jnp.zeros_like(log_probs).at[:, rows, states].add(share)
    gradient = (jnp.exp(log_probs) - by_class) * grad[:, None]
    # Of an impossible alignment all is nan, unless the caller asks for zero.
    gradient = jnp.where((neg_log_likelihood == jnp.inf)[:, None], jnp.nan, gradient)
    counted = times[:, None] < steps
    if zero_infinity:
        counted = counted & (neg_log_likelihood != jnp.inf)
    return jnp.where(counted[:, :, None], gradient, 0)


def _lengths(numbers: list[Array]) -> Array:
    return jnp.stack([jnp.asarray(number, jnp.int32) for number in numbers]) if len(numbers) else jnp.zeros(0, jnp.int32)


def _states(targets: Array, labels: Array, blank: int, longest: int) -> tuple[Array, Array]:
    """The class of every state, and whether it may not be reached from two before: a blank, or the same label again."""
    if targets.ndim == 1:
        first = jnp.cumsum(labels, dtype=jnp.int32) - labels
        at = first[:, None] + jnp.arange(longest, dtype=jnp.int32)
        padded = jnp.take(targets, at, mode="clip") if targets.size else jnp.zeros(at.shape, targets.dtype)
    else:
        padded = jnp.pad(targets, ((0, 0), (0, max(longest - targets.shape[1], 0))))[:, :longest]
    classes = jnp.full((len(labels), 2 * longest + 1), blank, jnp.int32).at[:, 1::2].set(padded.astype(jnp.int32))
    two_before = jnp.pad(classes[:, :-2], ((0, 0), (2, 0)), constant_values=blank)[:, : classes.shape[1]]
    return classes, (classes == two_before) | (jnp.arange(classes.shape[1], dtype=jnp.int32) < 2)


def _emitted(log_probs: Array, states: Array) -> Array:
    """(time, batch, state): the log probability of the state's class at the time."""
    picked = jax.vmap(lambda of_time: jnp.take_along_axis(of_time, states, 1, mode="clip"))
    return picked(log_probs)


def _shifted(states: Array, by: int) -> Array:
    """Of every state the value `by` states before it."""
    width = states.shape[1]
    if abs(by) >= width:
        return jnp.full_like(states, -jnp.inf)
    margin = (by, 0) if by > 0 else (0, -by)
    kept = states[:, : width - by] if by > 0 else states[:, -by:]
    return jnp.pad(kept, ((0, 0), margin), constant_values=-jnp.inf)


def _log_sum(*terms: Array) -> Array:
    highest = terms[0]
    for term in terms[1:]:
        highest = jnp.maximum(highest, term)
    finite = jnp.where(highest == -jnp.inf, 0, highest)
    return jnp.log(sum(jnp.exp(term - finite) for term in terms)) + finite
