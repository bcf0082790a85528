"""L D L^T factors of a symmetric or Hermitian matrix with Bunch and Kaufman's pivots, as LAPACK's sytrf and hetrf leave them.

Column k of L is below the diagonal of column k; D has blocks of one row, or of two. Where D has one row, row k was interchanged
with row pivots[k] - 1 among those from k on; where it has two, row k + 1 with row -pivots[k] - 1, and pivots[k + 1] says it again.
There are no such routines in jaxlib, so every platform runs these loops.
"""

import math
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.checked import Checked, checked
from torchtpu.lowerings.creation import tril, triu
from torchtpu.lowerings.lapack import same_batch

_ALPHA = (1 + math.sqrt(17)) / 8  # which bounds the growth of two steps of one row as that of one step of two


def factor_ex(self: Array, hermitian: bool, check_errors: bool) -> tuple[Array, Array, Array] | Checked:
    results = _over_batch(lambda matrix: _factor(matrix, hermitian and jnp.iscomplexobj(matrix)), self)
    return checked(results, jnp.all(results[2] == 0)) if check_errors else results


def solve(LD: Array, pivots: Array, B: Array, hermitian: bool) -> Array:
    LD, B = same_batch(LD, B)
    if B.size == 0:
        return B
    pivots = jnp.broadcast_to(pivots, LD.shape[:-1])
    return _over_batch(lambda *operands: _solve(*operands, hermitian and jnp.iscomplexobj(LD)), LD, pivots, B)


def _over_batch(function: Callable, *operands: Array) -> Array:
    for _ in range(operands[0].ndim - 2):
        function = jax.vmap(function)
    return function(*operands)


def _factor(matrix: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    n = matrix.shape[-1]
    at = jnp.arange(n, dtype=jnp.int32)
    state = (jnp.int32(0), _mirrored(matrix, hermitian), jnp.zeros(n, jnp.int32), jnp.int32(0))
    if n == 0:
        return matrix, state[2], state[3]

    def step(state: tuple[Array, ...]) -> tuple[Array, ...]:
        k, rest, pivots, info = state
        pivot, is_pair = _pivot(rest, at, k)
        nothing_left = jnp.max(jnp.where(at >= k, _size(rest[:, k]), 0)) == 0
        info = jnp.where((info == 0) & nothing_left, k + 1, info)
        rest = _swap_both(rest, at, k, k + is_pair, pivot)
        rest = lax.cond(is_pair, partial(_eliminate_pair, hermitian), partial(_eliminate_one, hermitian), rest, at, k)
        named = jnp.where(is_pair, -pivot - 1, pivot + 1)
        pivots = jnp.where((at == k) | (is_pair & (at == k + 1)), named, pivots)
        return k + 1 + is_pair, rest, pivots, info

    _, rest, pivots, info = lax.while_loop(lambda state: state[0] < n, step, state)
    return tril(rest, 0), pivots, info


def _mirrored(matrix: Array, hermitian: bool) -> Array:
    """The whole of the matrix of which only the lower triangle counts."""
    below, middle = tril(matrix, -1), tril(triu(matrix, 0), 0)
    if hermitian:
        return below + jnp.conj(below.T) + middle.real.astype(matrix.dtype)
    return below + below.T + middle


def _size(values: Array) -> Array:
    """As LAPACK compares complex numbers."""
    return jnp.abs(values.real) + jnp.abs(values.imag) if jnp.iscomplexobj(values) else jnp.abs(values)


def _pivot(rest: Array, at: Array, k: Array) -> tuple[Array, Array]:
    """The row to interchange, and whether two rows are eliminated at once."""
    column = jnp.where(at > k, _size(rest[:, k]), -1)
    row = jnp.where(k + 1 < len(at), jnp.argmax(column).astype(jnp.int32), k)
    diagonal, largest = _size(rest[k, k]), jnp.maximum(column[row], 0)
    others = jnp.max(jnp.where((at >= k) & (at != row), _size(rest[:, row]), 0))
    growth = largest / jnp.where(others > 0, others, 1)
    stays = (diagonal >= _ALPHA * largest) | (diagonal >= _ALPHA * largest * growth) | jnp.isnan(diagonal)
    is_pair = ~stays & (_size(rest[row, row]) < _ALPHA * others)
    return jnp.where(stays, k, row), is_pair


def _swap_both(rest: Array, at: Array, k: Array, first: Array, second: Array) -> Array:
    """Rows and columns `first` and `second` of what is left, from row and column k on."""
    order = jnp.where(at == first, second, jnp.where(at == second, first, at))
    left = (at >= k)[:, None] & (at >= k)
    return jnp.where(left, rest[order][:, order], rest)


def _eliminate_one(hermitian: bool, rest: Array, at: Array, k: Array) -> Array:
    column = jnp.where(at > k, rest[:, k], 0)
    factor = jnp.where(rest[k, k] == 0, 0, column / jnp.where(rest[k, k] == 0, 1, rest[k, k]))
    rest = rest - factor[:, None] * (jnp.conj(column) if hermitian else column)
    return jnp.where((at == k) & (at > k)[:, None], factor[:, None], rest)


def _eliminate_pair(hermitian: bool, rest: Array, at: Array, k: Array) -> Array:
    columns = jnp.where((at > k + 1)[:, None], jnp.stack([rest[:, k], rest[:, k + 1]], axis=1), 0)
    factors = columns @ _inverse(rest[k, k], rest[k + 1, k], rest[k + 1, k + 1], hermitian)
    rest = rest - factors @ (jnp.conj(columns.T) if hermitian else columns.T)
    rest = jnp.where((at == k) & (at > k + 1)[:, None], factors[:, :1], rest)
    return jnp.where((at == k + 1) & (at > k + 1)[:, None], factors[:, 1:], rest)


def _inverse(first: Array, below: Array, second: Array, hermitian: bool) -> Array:
    """Of a block of D, whose element below the diagonal is the largest."""
    above = jnp.conj(below) if hermitian else below
    first, second = first / above, second / below
    scale = 1 / (first * second - 1)
    return jnp.array([[second / above, -jnp.ones_like(below) / below], [-jnp.ones_like(below) / above, first / below]]) * scale


def _solve(LD: Array, pivots: Array, B: Array, hermitian: bool) -> Array:
    n = LD.shape[-1]
    at = jnp.arange(n, dtype=jnp.int32)
    # The first row of each pair: every other one in a run of negative pivots.
    _, firsts = lax.scan(lambda before, pivot: ((pivot < 0) & ~before,) * 2, jnp.zeros((), bool), pivots)
    seconds = (pivots < 0) & ~firsts

    def column(k: Array) -> Array:
        return jnp.where(at > k + firsts[k], LD[:, k], 0)

    def down(k: Array, X: Array) -> Array:
        """The blocks from the first on: L X = B, then D."""
        other = jnp.where(firsts[k], jnp.minimum(k + 1, n - 1), k)
        X = jnp.where(seconds[k], X, _swap(X, at, other, jnp.abs(pivots[k]) - 1))
        pair = jnp.stack([X[k], X[other]])
        inverse = _inverse(LD[k, k], LD[other, k], LD[other, other], hermitian)
        eliminated = X - column(k)[:, None] * X[k] - jnp.where(firsts[k], column(other), 0)[:, None] * X[other]
        solved = jnp.where(firsts[k], inverse @ pair, pair / LD[k, k])
        eliminated = jnp.where((at == k)[:, None], solved[0], eliminated)
        eliminated = jnp.where((firsts[k] & (at == other))[:, None], solved[1], eliminated)
        return jnp.where(seconds[k], X, eliminated)

    def up(step: Array, X: Array) -> Array:
        """The blocks from the last on: L^T X = B, or its adjoint."""
        k = n - 1 - step
        other = jnp.where(firsts[k], jnp.minimum(k + 1, n - 1), k)
        factors = jnp.stack([column(k), jnp.where(firsts[k], column(other), 0)])
        products = (jnp.conj(factors) if hermitian else factors) @ X
        Y = jnp.where((at == k)[:, None], X - products[0], X)
        Y = jnp.where((firsts[k] & (at == other))[:, None], X - products[1], Y)
        return jnp.where(seconds[k], X, _swap(Y, at, other, jnp.abs(pivots[k]) - 1))

    return lax.fori_loop(0, n, up, lax.fori_loop(0, n, down, B))


def _swap(rows: Array, at: Array, first: Array, second: Array) -> Array:
    return rows[jnp.where(at == first, second, jnp.where(at == second, first, at))]
