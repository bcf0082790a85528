"""Products of many pairs of matrices at once: batched, or of consecutive slices, where `offs` says where each ends."""

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.matmul import contract
from torchtpu.lowerings.opmath import opmath


def grouped_mm(self: Array, mat2: Array, offs: Array | None, bias: Array | None, out_dtype: Any) -> Array:
    """A matrix with three dimensions has one slice for each group, one with two dimensions is cut into them."""
    del bias, out_dtype  # torch refuses the one, and another dtype than self's
    if offs is None:
        product = contract(self, mat2, ((2,), (1,)), ((0,), (0,)))
    elif self.ndim == 2 and mat2.ndim == 2:
        product = _ragged(self, mat2, offs, contracting=(1, 0), ragged=1)
    elif self.ndim == 2:
        product = _ragged(self, mat2, offs, contracting=(1, 1), ragged=0, group=0)
    else:
        product = _ragged(mat2, self, offs, contracting=(0, 2), ragged=1, group=0).T
    return product.astype(self.dtype)


def _ragged(
    left: Array, right: Array, offs: Array, contracting: tuple[int, int], ragged: int, group: int | None = None
) -> Array:
    """left's dimension `ragged` consists of the groups; right has them as its dimension `group`, or cut likewise."""
    dimensions = lax.RaggedDotDimensionNumbers(
        dot_dimension_numbers=(tuple((dim,) for dim in contracting), ((), ())),
        lhs_ragged_dimensions=[ragged],
        rhs_group_dimensions=[] if group is None else [group],
    )
    sizes = jnp.diff(offs, prepend=jnp.zeros(1, offs.dtype)).astype(jnp.int32)
    # XLA's CPU has no such product of bfloat16 to float32; of bfloat16 in float32 a TPU's single pass is as exact as six.
    precision = lax.Precision.DEFAULT if left.dtype == jnp.bfloat16 else None
    left, right = opmath(left), opmath(right)
    return lax.ragged_dot_general(left, right, sizes, dimensions, precision=precision)
