"""Products of matrices of small types. The sums are kept in int32 or float32."""

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.matmul import contract
from torchtpu.lowerings.promotion import cast


def int_mm(self: Array, mat2: Array) -> Array:
    """8-bit integers, with or without sign, to int32."""
    if self.dtype != mat2.dtype:
        self, mat2 = self.astype(jnp.int32), mat2.astype(jnp.int32)
    return lax.dot_general(self, mat2, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)


def weight_int8pack_mm(self: Array, mat2: Array, scales: Array) -> Array:
    """mat2: a row of int8 for each output, times a scale of its own."""
    product = contract(self, mat2.astype(self.dtype), ((1,), (1,)))
    return (product * scales.astype(product.dtype)).astype(self.dtype)


def scaled_mm(
    self: Array,
    mat2: Array,
    scale_a: Array,
    scale_b: Array,
    bias: Array | None,
    scale_result: Array | None,
    out_dtype: Any,
    use_fast_accum: bool,
) -> Array:
    """(self * scale_a) @ (mat2 * scale_b) + bias, with one scale for all or one for each row and column."""
    del scale_result, use_fast_accum  # torch's CPU has no use for them
    sizes = self.shape[0], mat2.shape[1]
    if 0 in sizes:  # then torch compares none
        return jnp.zeros(sizes, out_dtype or self.dtype)
    left, right = (
        array.astype(jnp.float32) * (scale.reshape(()) if scale.size == 1 else scale)
        for array, scale in ((self, scale_a), (mat2, scale_b))
    )
    product = left @ right
    return cast(product if bias is None else product + bias, out_dtype or self.dtype)


def scaled_mm_v2(
    self: Array,
    mat2: Array,
    scale_a: list[Array],
    recipe_a: tuple[int, ...],
    swizzle_a: tuple[int, ...],
    scale_b: list[Array],
    recipe_b: tuple[int, ...],
    swizzle_b: tuple[int, ...],
    bias: Array | None,
    out_dtype: Any,
    contraction_dim: tuple[int, ...],
    use_fast_accum: bool,
) -> Array:
    """The recipes that torch's CPU takes are those whose scales say by their shapes what they are for."""
    del recipe_a, swizzle_a, recipe_b, swizzle_b, contraction_dim
    return scaled_mm(self, mat2, scale_a[0], scale_b[0], bias, None, out_dtype, use_fast_accum)
