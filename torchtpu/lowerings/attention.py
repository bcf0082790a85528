"""Scaled dot-product attention as plain XLA: softmax(q k^T * scale + bias) v, over heads in axis 1."""

import math

import jax
import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.opmath import opmath_dtype


def fused_attention(
    rng_key: Array,
    query: Array,
    key: Array,
    value: Array,
    attn_bias: Array | None,
    dropout_p: float,
    is_causal: bool,
    return_debug_mask: bool,
    scale: Array | None,
) -> tuple[Array, Array, Array]:
    """Output, logsumexp, and the seed from which the backward draws the same dropout again."""
    seed = lax.bitcast_convert_type(jax.random.key_data(rng_key), jnp.int64)
    output = attention(query, key, value, attn_bias, dropout_p, is_causal, seed, scale)
    scores = attention_scores(query, key, attn_bias, is_causal, scale)
    return output, _per_query_head(jax.nn.logsumexp(scores, -1), query)[..., 0], seed


def attention(
    query: Array,
    key: Array,
    value: Array,
    attn_bias: Array | None,
    dropout_p: float,
    is_causal: bool,
    philox_seed: Array | None,
    scale: Array | None,
) -> Array:
    scores = attention_scores(query, key, attn_bias, is_causal, scale)
    probabilities = safe_softmax(scores)
    if dropout_p > 0:
        rng_key = jax.random.wrap_key_data(lax.bitcast_convert_type(philox_seed, jnp.uint32))
        kept = jax.random.bernoulli(rng_key, jnp.float32(1 - dropout_p), scores.shape)
        probabilities = jnp.where(kept, probabilities / max(1 - dropout_p, 1e-30), 0)
    output = jnp.einsum(
        "bhgqk,bhkd->bhgqd", probabilities.astype(value.dtype), value, preferred_element_type=scores.dtype
    )
    return _per_query_head(output, query).astype(query.dtype)


def attention_scores(
    query: Array, key: Array, attn_bias: Array | None, is_causal: bool, scale: Array | None
) -> Array:
    """(batch, key heads, query heads per key head, queries, keys): grouped queries share the key of their group."""
    grouped = _by_key_head(query, key.shape[1])
    scores = jnp.einsum("bhgqd,bhkd->bhgqk", grouped, key, preferred_element_type=opmath_dtype(query.dtype))
    scores = scores * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if attn_bias is not None:
        bias = jnp.broadcast_to(attn_bias, (*query.shape[:-1], key.shape[-2]))
        bias = _by_key_head(bias, key.shape[1])
        scores = jnp.where(bias, scores, -jnp.inf) if bias.dtype == bool else scores + bias.astype(scores.dtype)
    if is_causal:
        rows, columns = (lax.broadcasted_iota(jnp.int32, scores.shape[-2:], axis) for axis in (0, 1))
        scores = jnp.where(columns <= rows, scores, -jnp.inf)
    return scores


def safe_softmax(scores: Array) -> Array:
    """A query that may see no key attends to nothing; a plain softmax would give nans."""
    highest = jnp.max(scores, -1, keepdims=True, initial=-jnp.inf)
    visible = highest > -jnp.inf
    weights = jnp.exp(scores - lax.stop_gradient(jnp.where(visible, highest, 0)))
    return weights / jnp.where(visible, weights.sum(-1, keepdims=True), 1)


def _by_key_head(array: Array, heads: int) -> Array:
    return array.reshape(array.shape[0], heads, -1, *array.shape[2:])


def _per_query_head(array: Array, query: Array) -> Array:
    return array.reshape(*query.shape[:3], -1)
