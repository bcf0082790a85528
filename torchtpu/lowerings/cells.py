"""One step of a recurrent network from its weights: the products and the gates as one program."""

import jax
import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings import recurrent
from torchtpu.lowerings.opmath import opmath_dtype


def tanh(input: Array, hx: Array, w_ih: Array, w_hh: Array, b_ih: Array | None, b_hh: Array | None) -> Array:
    return jnp.tanh(_sum_of_gates(input, hx, w_ih, w_hh, b_ih, b_hh)).astype(hx.dtype)


def relu(input: Array, hx: Array, w_ih: Array, w_hh: Array, b_ih: Array | None, b_hh: Array | None) -> Array:
    return jax.nn.relu(_sum_of_gates(input, hx, w_ih, w_hh, b_ih, b_hh)).astype(hx.dtype)


def gru(input: Array, hx: Array, w_ih: Array, w_hh: Array, b_ih: Array | None, b_hh: Array | None) -> Array:
    return recurrent.gru_cell(_gates(input, w_ih), _gates(hx, w_hh), hx, b_ih, b_hh)[0]


def lstm(
    input: Array, hx: list[Array], w_ih: Array, w_hh: Array, b_ih: Array | None, b_hh: Array | None
) -> tuple[Array, Array]:
    """New hidden state and new cell state, from hx: the two before."""
    return recurrent.lstm_cell(_gates(input, w_ih), _gates(hx[0], w_hh), hx[1], b_ih, b_hh)[:2]


def _sum_of_gates(input, hx, w_ih, w_hh, b_ih, b_hh) -> Array:
    gates = _gates(input, w_ih) + _gates(hx, w_hh)
    for bias in (b_ih, b_hh):
        gates = gates if bias is None else gates + bias.astype(gates.dtype)
    return gates


def _gates(state: Array, weight: Array) -> Array:
    return jnp.matmul(state, weight.T, preferred_element_type=opmath_dtype(state.dtype))
