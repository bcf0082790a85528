"""One step of an LSTM or a GRU. The workspace is ours to lay out: what the backward needs of the step."""

import jax
import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings.opmath import opmath


def lstm_cell(
    input_gates: Array, hidden_gates: Array, cx: Array, input_bias: Array | None, hidden_bias: Array | None
) -> tuple[Array, Array, Array]:
    """New hidden state, new cell state, and the activated gates: input, forget, cell, output."""
    gates = _biased(input_gates, input_bias) + _biased(hidden_gates, hidden_bias)
    input, forget, cell, output = jnp.split(gates, 4, 1)
    input, forget, output = map(jax.nn.sigmoid, (input, forget, output))
    cell = jnp.tanh(cell)
    cy = forget * opmath(cx) + input * cell
    workspace = jnp.concatenate([input, forget, cell, output], 1)
    return tuple(each.astype(cx.dtype) for each in (output * jnp.tanh(cy), cy, workspace))


def lstm_cell_backward(
    grad_hy: Array | None, grad_cy: Array | None, cx: Array, cy: Array, workspace: Array, has_bias: bool
) -> tuple[Array, Array, Array | None]:
    """Gradients of the gates, of the old cell state, and of either bias."""
    input, forget, cell, output = jnp.split(opmath(workspace), 4, 1)
    of_hy = 0 if grad_hy is None else opmath(grad_hy)
    squashed = jnp.tanh(opmath(cy))
    of_cy = of_hy * output * (1 - squashed**2) + (0 if grad_cy is None else opmath(grad_cy))
    of_gates = jnp.concatenate(
        [
            of_cy * cell * input * (1 - input),
            of_cy * opmath(cx) * forget * (1 - forget),
            of_cy * input * (1 - cell**2),
            of_hy * squashed * output * (1 - output),
        ],
        1,
    )
    of_bias = of_gates.sum(0).astype(cx.dtype) if has_bias else None
    return of_gates.astype(cx.dtype), (of_cy * forget).astype(cx.dtype), of_bias


def gru_cell(
    input_gates: Array, hidden_gates: Array, hx: Array, input_bias: Array | None, hidden_bias: Array | None
) -> tuple[Array, Array]:
    """New hidden state, and what its backward needs: reset and input gates, candidate, old state, hidden candidate."""
    reset_in, input_in, new_in = jnp.split(_biased(input_gates, input_bias), 3, 1)
    reset_hidden, input_hidden, new_hidden = jnp.split(_biased(hidden_gates, hidden_bias), 3, 1)
    reset, input = jax.nn.sigmoid(reset_in + reset_hidden), jax.nn.sigmoid(input_in + input_hidden)
    new = jnp.tanh(new_in + reset * new_hidden)
    state = opmath(hx)
    workspace = jnp.concatenate([reset, input, new, state, new_hidden], 1)
    return (new + input * (state - new)).astype(hx.dtype), workspace.astype(hx.dtype)


def gru_cell_backward(
    grad_hy: Array, workspace: Array, has_bias: bool
) -> tuple[Array, Array, Array, Array | None, Array | None]:
    """Gradients of the input's and the hidden state's gates, of the old state, and of both biases."""
    reset, input, new, state, new_hidden = jnp.split(opmath(workspace), 5, 1)
    grad = opmath(grad_hy)
    of_new = grad * (1 - input) * (1 - new**2)
    of_input = grad * (state - new) * input * (1 - input)
    of_reset = of_new * new_hidden * reset * (1 - reset)
    of_input_gates = jnp.concatenate([of_reset, of_input, of_new], 1)
    of_hidden_gates = jnp.concatenate([of_reset, of_input, of_new * reset], 1)
    results = [of_input_gates, of_hidden_gates, grad * input]
    results += [of_input_gates.sum(0), of_hidden_gates.sum(0)] if has_bias else []
    return (*(each.astype(grad_hy.dtype) for each in results), *(() if has_bias else (None, None)))


def _biased(gates: Array, bias: Array | None) -> Array:
    return opmath(gates) if bias is None else opmath(gates) + opmath(bias)
