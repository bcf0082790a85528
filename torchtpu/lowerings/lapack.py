"""LAPACK routines as operations of a program, for the CPU platform: torchtpu.miss.handlers gives them to its plugin.

JAX's own linear algebra calls them too; this is for what it does not tell, above all whether a routine succeeded.
"""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from torchtpu.lowerings.creation import eye

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def on_cpu(lapack: Callable, other: Callable, *operands: Array) -> Any:
    """What `lapack` gives on the CPU platform, and `other` everywhere else."""
    return lax.platform_dependent(*operands, cpu=lapack, default=other)


def call(routine: str, matrix: Array, results: list[tuple[tuple[int, ...], Any]], **flags: str) -> list[Array]:
    """The results of a routine ("potrf") for a batch of matrices, which it gets column by column; then its `info`.

    results: shape, without that of the batch, and dtype of each. flags: letters. Nothing is called for empty matrices.
    """
    batch = matrix.shape[:-2]
    outputs = [jax.ShapeDtypeStruct((*batch, *shape), dtype) for shape, dtype in [*results, ((), jnp.int32)]]
    if matrix.size == 0:
        return [jnp.zeros(output.shape, output.dtype) for output in outputs]
    run = jax.ffi.ffi_call(
        f"lapack_{_LETTERS[matrix.dtype.name]}{routine}_ffi",
        outputs,
        input_layouts=[_by_columns(matrix.ndim)],
        output_layouts=[_by_columns(matrix.ndim) if output.ndim == matrix.ndim else None for output in outputs],
    )
    return run(matrix, **{name: np.uint8(ord(letter)) for name, letter in flags.items()})


def _by_columns(ndim: int) -> tuple[int, ...]:
    """From the dimension that varies slowest to the one that varies fastest."""
    return (*range(ndim - 2), ndim - 1, ndim - 2)


def mh(matrix: Array) -> Array:
    """The conjugate transpose of each matrix."""
    return jnp.conj(matrix.mT)


def real_dtype(dtype: Any) -> np.dtype:
    return np.zeros((), dtype).real.dtype


def nothing(dtype: Any) -> Array:
    """What stands for a result that was not asked for."""
    return jnp.zeros((0,), dtype)


def eye_like(matrix: Array, size: int) -> Array:
    """Identities of `size` rows for a batch of matrices."""
    return jnp.broadcast_to(eye(size, matrix.dtype), (*matrix.shape[:-2], size, size))


def same_batch(*matrices: Array) -> list[Array]:
    """The matrices, broadcast to one batch."""
    batch = jnp.broadcast_shapes(*(matrix.shape[:-2] for matrix in matrices))
    return [jnp.broadcast_to(matrix, (*batch, *matrix.shape[-2:])) for matrix in matrices]


def is_empty(shape: tuple[int, ...]) -> bool:
    return math.prod(shape) == 0


def diagonal(matrix: Array) -> Array:
    """Of the last two dimensions."""
    places = jnp.arange(min(matrix.shape[-2:]), dtype=jnp.int32)
    return matrix[..., places, places]
