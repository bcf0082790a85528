"""torch dtypes as JAX sees them, and the dtype that an op computes in."""

from collections.abc import Iterable
from typing import Any

import jax.numpy as jnp
import numpy as np
import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as KIND
from torch._prims_common import elementwise_dtypes, get_computation_dtype

_NUMPY = {
    torch.bool: np.bool_,
    torch.uint8: np.uint8,
    torch.uint16: np.uint16,
    torch.uint32: np.uint32,
    torch.uint64: np.uint64,
    torch.int8: np.int8,
    torch.int16: np.int16,
    torch.int32: np.int32,
    torch.int64: np.int64,
    torch.float16: np.float16,
    torch.bfloat16: jnp.bfloat16,
    torch.float32: np.float32,
    torch.float64: np.float64,
    torch.complex32: np.complex64,  # computed so, held as words
    torch.complex64: np.complex64,
    torch.complex128: np.complex128,
    torch.float8_e5m2: jnp.float8_e5m2,
    torch.float8_e4m3fn: jnp.float8_e4m3fn,
    torch.float8_e5m2fnuz: jnp.float8_e5m2fnuz,
    torch.float8_e4m3fnuz: jnp.float8_e4m3fnuz,
}
_TORCH = {np.dtype(value): key for key, value in _NUMPY.items() if key != torch.complex32}

# c10::ScalarType, as the dispatcher hands dtype arguments over.
_BY_NUMBER = {
    0: torch.uint8,
    1: torch.int8,
    2: torch.int16,
    3: torch.int32,
    4: torch.int64,
    5: torch.float16,
    6: torch.float32,
    7: torch.float64,
    8: torch.complex32,
    9: torch.complex64,
    10: torch.complex128,
    11: torch.bool,
    15: torch.bfloat16,
    23: torch.float8_e5m2,
    24: torch.float8_e4m3fn,
    25: torch.float8_e5m2fnuz,
    26: torch.float8_e4m3fnuz,
    27: torch.uint16,
    28: torch.uint32,
    29: torch.uint64,
}

_KINDS = {
    "default": KIND.DEFAULT,
    "int_to_float": KIND.INT_TO_FLOAT,
    "int_to_long": KIND.BOOL_TO_LONG,
    "complex_to_float": KIND.COMPLEX_TO_FLOAT,
}


def to_numpy(dtype: torch.dtype) -> np.dtype:
    """Raises NotImplementedError for a dtype that XLA does not have."""
    if dtype not in _NUMPY:
        raise NotImplementedError(f"torchtpu: a tpu tensor cannot have dtype {dtype}")
    return np.dtype(_NUMPY[dtype])


def in_memory(dtype: torch.dtype) -> np.dtype:
    """What buffers hold: the same, but for complex32, of which they hold the bits since XLA has no such type."""
    return np.dtype(np.uint32) if dtype == torch.complex32 else to_numpy(dtype)


def to_torch(dtype: np.dtype) -> torch.dtype:
    return _TORCH[np.dtype(dtype)]


def from_number(number: int) -> torch.dtype:
    """The dtype behind a ScalarType argument."""
    return _BY_NUMBER[number]


def promotion(kind: str, operands: Iterable[Any], dtype: torch.dtype | None) -> tuple[torch.dtype, torch.dtype]:
    """The dtypes that `promote: kind` computes in and returns, for tensors and Python numbers under torch's rules.

    dtype: the value of the op's own dtype argument, which wins.
    """
    if dtype is not None:
        return get_computation_dtype(dtype), dtype
    if kind == "bool":  # comparisons compute nothing: what they compare is rounded to the operands' own dtype
        return elementwise_dtypes(*operands, type_promotion_kind=KIND.DEFAULT)[1], torch.bool
    computed, result = elementwise_dtypes(*operands, type_promotion_kind=_KINDS[kind])
    if kind == "int_to_long" and not (result.is_floating_point or result.is_complex):
        return torch.int64, torch.int64
    return computed, result


def number_format(number: Any, computed: torch.dtype | None, wide: bool) -> str:
    """How a traced number travels in the operand buffer.

    computed: the dtype that the op computes in, if the number is brought to it.
    wide: some tensor of the call has 64-bit elements; without one no program handles 64-bit values.
    """
    if computed is None:
        if isinstance(number, torch.Tensor):
            number = torch.zeros((), dtype=number.dtype).item()
        kind = "c" if isinstance(number, complex) else "f" if isinstance(number, float) else "s"
        if isinstance(number, int) and number >= 2**63:
            return "f64"
        large = isinstance(number, int) and not -(2**31) <= number < 2**31  # which the key tells apart
        bits = 64 if wide or large else 32
    else:
        kind = "c" if computed.is_complex else "f" if computed.is_floating_point else "s"
        bits = 64 if computed in (torch.float64, torch.int64, torch.complex128, torch.uint32, torch.uint64) else 32
    return f"{kind}{bits * 2 if kind == 'c' else bits}"


FORMAT_DTYPES = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "s32": np.dtype(np.int32),
    "s64": np.dtype(np.int64),
    "c64": np.dtype(np.complex64),
    "c128": np.dtype(np.complex128),
}
