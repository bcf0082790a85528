"""Attention that never holds all scores at once: JAX's splash attention kernel behind ATen's interface."""

import math

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as splash
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as masks

LANES = 128  # of a TPU register: what the lengths and the head dimension have to be multiples of


def flash_applies(
    rng_key, query, key, value, attn_bias, dropout_p: float, is_causal: bool, return_debug_mask: bool, scale
) -> bool:
    """In bfloat16 only: the kernel multiplies in one pass of the unit, which is not what torch asks of float32."""
    arrays = (query, key, value)
    return (
        attn_bias is None
        and dropout_p == 0
        and all(array.dtype == jnp.bfloat16 for array in arrays)
        and query.shape[:2] == key.shape[:2] == value.shape[:2]
        and query.shape[3] == value.shape[3]
        and all(size > 0 and size % LANES == 0 for array in arrays for size in array.shape[2:])
    )


def flash_fwd(
    rng_key: Array,
    query: Array,
    key: Array,
    value: Array,
    attn_bias: None,
    dropout_p: float,
    is_causal: bool,
    return_debug_mask: bool,
    scale: Array | None,
    block_q: int,
    block_k: int,
) -> tuple[Array, Array, Array]:
    """Output, logsumexp, and the seed that a dropout would have been drawn from."""
    queries, keys = query.shape[2], key.shape[2]
    mask = (masks.CausalMask if is_causal else masks.FullMask)((queries, keys))
    block_q, block_k = math.gcd(block_q, queries), math.gcd(block_k, keys)
    scaled = query * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    with jax.enable_x64(False):  # Mosaic's indices have 32 bits
        attend = splash.make_splash_mha_single_device(
            masks.MultiHeadMask([mask] * (query.shape[0] * query.shape[1])),
            block_sizes=splash.BlockSizes(block_q=block_q, block_kv=block_k, block_kv_compute=block_k),
            save_residuals=True,
        )
        output, (logsumexp,) = attend(*(_one_batch(each) for each in (scaled.astype(query.dtype), key, value)))
    output, logsumexp = output.reshape(query.shape), logsumexp.reshape(query.shape[:3])
    return output, logsumexp, lax.bitcast_convert_type(jax.random.key_data(rng_key), jnp.int64)


def _one_batch(array: Array) -> Array:
    """The kernel's batch is its heads."""
    return array.reshape(-1, *array.shape[2:])
