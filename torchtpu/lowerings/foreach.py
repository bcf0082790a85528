"""Whole-list ops, each one program: what the foreach optimizers call.

torch lets the lists mix dtypes; every row is promoted by itself, as the op on its own elements would be.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings import arithmetic, elementwise, matmul, reduction
from torchtpu.lowerings.promotion import Scalar, cast, pointwise

# One of the lists: an array for each row.
Column = Sequence[Array]


def _each(fn: Callable, *columns, int_to_float: bool = False) -> list:
    """fn over the rows of `columns`. A column that is not a list is the same in every row."""
    rows = next(len(column) for column in columns if isinstance(column, (list, tuple)))
    full = (column if isinstance(column, (list, tuple)) else [column] * rows for column in columns)
    return [pointwise(fn, *row, int_to_float=int_to_float) for row in zip(*full)]


def _unary(fn: Callable, int_to_float: bool = False) -> Callable:
    def lowering(self: Column) -> list[Array]:
        return _each(fn, self, int_to_float=int_to_float)

    return lowering


def _with_scalar(fn: Callable, int_to_float: bool = False) -> Callable:
    def lowering(self: Column, scalar: Scalar) -> list[Array]:
        return _each(fn, self, scalar, int_to_float=int_to_float)

    return lowering


def _with_scalars(fn: Callable, int_to_float: bool = False) -> Callable:
    def lowering(self: Column, scalars: Sequence[Scalar] | Array) -> list[Array]:
        return _each(fn, self, scalars, int_to_float=int_to_float)

    return lowering


def _with_other(fn: Callable, int_to_float: bool = False) -> Callable:
    """`other` is a list, or one 0-d array for all."""

    def lowering(self: Column, other: Column | Array) -> list[Array]:
        return _each(fn, self, other, int_to_float=int_to_float)

    return lowering


def _with_other_and_alpha(fn: Callable) -> Callable:
    def lowering(self: Column, other: Column | Array, alpha: Scalar) -> list[Array]:
        return _each(lambda x, y: fn(x, y, alpha), self, other)

    return lowering


def _fused_value(fn: Callable) -> Callable:
    def lowering(self: Column, tensor1: Column, tensor2: Column, value: Scalar) -> list[Array]:
        return _each(lambda x, y, z: fn(x, y, z, value), self, tensor1, tensor2)

    return lowering


def _fused_scalars(fn: Callable) -> Callable:
    """`scalars` is a list of numbers or a vector, one for each row."""

    def lowering(self: Column, tensor1: Column, tensor2: Column, scalars: Sequence[Scalar] | Array) -> list[Array]:
        return [
            pointwise(lambda x, y, z, value=value: fn(x, y, z, value), *row)
            for *row, value in zip(self, tensor1, tensor2, list(scalars))
        ]

    return lowering


def _add(x: Array, y: Array) -> Array:
    return arithmetic.add(x, y, 1)


def _subtract(x: Array, y: Array) -> Array:
    return arithmetic.sub(x, y, 1)


def _fraction(x: Array) -> Array:
    return x - jnp.trunc(x)


abs = _unary(jnp.abs)
ceil = _unary(jnp.ceil)
floor = _unary(jnp.floor)
frac = _unary(_fraction)
neg = _unary(jnp.negative)
round = _unary(jnp.round)
sign = _unary(elementwise.sign)
trunc = _unary(jnp.trunc)

acos = _unary(jnp.arccos, int_to_float=True)
asin = _unary(jnp.arcsin, int_to_float=True)
atan = _unary(jnp.arctan, int_to_float=True)
cos = _unary(jnp.cos, int_to_float=True)
cosh = _unary(elementwise.cosh, int_to_float=True)
erf = _unary(lax.erf, int_to_float=True)
erfc = _unary(lax.erfc, int_to_float=True)
exp = _unary(jnp.exp, int_to_float=True)
expm1 = _unary(jnp.expm1, int_to_float=True)
lgamma = _unary(lax.lgamma, int_to_float=True)
log = _unary(jnp.log, int_to_float=True)
log10 = _unary(jnp.log10, int_to_float=True)
log1p = _unary(jnp.log1p, int_to_float=True)
log2 = _unary(jnp.log2, int_to_float=True)
reciprocal = _unary(jnp.reciprocal, int_to_float=True)
rsqrt = _unary(lax.rsqrt, int_to_float=True)
sigmoid = _unary(lax.logistic, int_to_float=True)
sin = _unary(jnp.sin, int_to_float=True)
sinh = _unary(elementwise.sinh, int_to_float=True)
sqrt = _unary(jnp.sqrt, int_to_float=True)
tan = _unary(jnp.tan, int_to_float=True)
tanh = _unary(jnp.tanh, int_to_float=True)

add_scalar = _with_scalar(_add)
add_scalars = _with_scalars(_add)
add = _with_other_and_alpha(arithmetic.add)
sub_scalar = _with_scalar(_subtract)
sub_scalars = _with_scalars(_subtract)
sub = _with_other_and_alpha(arithmetic.sub)
mul_scalar = _with_scalar(jnp.multiply)
mul_scalars = _with_scalars(jnp.multiply)
mul = _with_other(jnp.multiply)
div_scalar = _with_scalar(jnp.divide, int_to_float=True)
div_scalars = _with_scalars(jnp.divide, int_to_float=True)
div = _with_other(jnp.divide, int_to_float=True)
maximum_scalar = _with_scalar(jnp.maximum)
maximum_scalars = _with_scalars(jnp.maximum)
maximum = _with_other(jnp.maximum)
minimum_scalar = _with_scalar(jnp.minimum)
minimum_scalars = _with_scalars(jnp.minimum)
minimum = _with_other(jnp.minimum)
addcmul_value = _fused_value(arithmetic.addcmul)
addcmul_scalars = _fused_scalars(arithmetic.addcmul)
addcdiv_value = _fused_value(arithmetic.addcdiv)
addcdiv_scalars = _fused_scalars(arithmetic.addcdiv)


def clone(self: Column) -> list[Array]:
    return list(self)


def zero(self: Column) -> list[Array]:
    return [jnp.zeros_like(x) for x in self]


def copy(self: Column, src: Column, non_blocking: bool) -> list[Array]:
    del non_blocking
    return [jnp.broadcast_to(cast(y, x.dtype), x.shape) for x, y in zip(self, src)]


def pow(self: Column | Scalar, exponent: Column | Sequence[Scalar] | Scalar) -> list[Array]:
    """Either may be the number."""
    return _each(arithmetic.power, self, exponent)


def lerp(self: Column, tensors1: Column, weights: Column) -> list[Array]:
    return _each(arithmetic.lerp, self, tensors1, weights)


def lerp_scalar(self: Column, tensors1: Column, weight: Scalar | Sequence[Scalar]) -> list[Array]:
    return _each(arithmetic.lerp, self, tensors1, weight)


def max(self: Column) -> list[Array]:
    return [jnp.max(x) for x in self]


def mm(self: Column, mat2: Column) -> list[Array]:
    return [matmul.mm(x, y) for x, y in zip(self, mat2)]


def norm(self: Column, ord: float, dtype: Any) -> list[Array]:
    return [_reduced(reduction.vector_norm, x, ord, dtype) for x in self]


def powsum(self: Column, ord: float, dtype: Any) -> list[Array]:
    return [_reduced(reduction.powsum, x, ord, dtype) for x in self]


def _reduced(fn: Callable, x: Array, ord: float, dtype: Any) -> Array:
    """Half types are summed in float32, as everywhere."""
    result = jnp.dtype(dtype or x.dtype)
    half = jnp.finfo(result).bits < 32
    computed = fn(x, ord, None, False, jnp.float32 if half else result)
    return computed.astype(jnp.finfo(result).dtype)
