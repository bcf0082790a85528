"""torch's type promotion and casts, for lowerings that cannot leave them to the entry's `promote`."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from torchtpu.lowerings.opmath import opmath_dtype

# A traced number, or a Python one where the program is specialised to it.
Scalar = Array | complex

_NUMBER_TYPES = {bool: jnp.bool_, int: jnp.int64, float: jnp.float32, complex: jnp.complex64}


def cast(value: Any, dtype: Any) -> Any:
    """`value.to(dtype)`, as in torch: a complex number loses its imaginary part, unless it becomes a bool, and small
    integers wrap around."""
    dtype = jnp.dtype(dtype)
    if dtype == jnp.bool_ and _kind(_dtype(value)) == 3:
        return value != 0
    if not jnp.issubdtype(dtype, jnp.complexfloating):
        value = value.real
    if jnp.issubdtype(dtype, jnp.integer) and dtype.itemsize < 4 and _kind(_dtype(value)) == 2:
        value = lax.convert_element_type(value, jnp.int32)  # XLA would saturate at the bounds
    if jnp.issubdtype(dtype, jnp.inexact) and _dtype(value) == jnp.bool_:
        value = lax.convert_element_type(value, jnp.uint8)  # XLA would select instead of multiply: 0 for NaN * False
    return lax.convert_element_type(value, dtype)


def result_type(*operands: Any) -> np.dtype:
    """torch.result_type: arrays with dimensions decide, then 0-d arrays, then numbers, if only of a higher kind."""
    by_rank: list[list] = [[], [], []]
    for operand in operands:
        number = isinstance(operand, (bool, int, float, complex)) or operand.weak_type
        by_rank[2 if number else int(operand.ndim == 0)].append(_dtype(operand))
    result = None
    for dtypes in by_rank:
        if dtypes:
            dtype = reduce(jnp.promote_types, dtypes)
            if result is None:
                result = dtype
            elif _kind(dtype) > _kind(result):
                result = jnp.promote_types(result, dtype)
    return result


def where(condition: Any, x: Any, y: Any) -> Any:
    """jnp.where in the type of the array of the two: a number there would enter the program as a 64-bit constant."""
    dtype = (y if isinstance(x, (bool, int, float)) else x).dtype
    return jnp.where(condition, *(lax.convert_element_type(value, dtype) for value in (x, y)))


def pointwise(fn: Callable, *operands: Any, int_to_float: bool = False) -> Any:
    """`fn` over operands brought to their common type; half types are computed in float32."""
    dtype = result_type(*operands)
    if int_to_float and _kind(dtype) < 2:
        dtype = jnp.dtype(jnp.float32)
    compute = opmath_dtype(dtype)
    result = fn(*(cast(operand, compute) for operand in operands))
    return result.astype(dtype) if result.dtype == compute else result


def _dtype(operand: Any) -> np.dtype:
    """The type that an operand brings in: a number, traced or not, stands for torch's default type of its kind."""
    if not isinstance(operand, (bool, int, float, complex)):
        if not operand.weak_type:
            return operand.dtype
        operand = (True, 1, 1.0, 1j)[_kind(operand.dtype)]
    return jnp.dtype(_NUMBER_TYPES[type(operand)])


def _kind(dtype: Any) -> int:
    """bool < integer < floating < complex."""
    return next(
        kind
        for kind, group in enumerate((jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating))
        if jnp.issubdtype(dtype, group)
    )
