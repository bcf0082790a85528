"""The inference paths of nn.MultiheadAttention and nn.TransformerEncoderLayer, each one program."""

import math

import jax
import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings.matmul import contract
from torchtpu.lowerings.norm import layer_norm
from torchtpu.lowerings.opmath import opmath, opmath_dtype

# What a mask leaves out: pairs of positions, keys by batch, or pairs by batch and head.
PAIRS, KEYS, ALL = range(3)


def native_multi_head_attention(
    query: Array,
    key: Array,
    value: Array,
    embed_dim: int,
    num_head: int,
    qkv_weight: Array,
    qkv_bias: Array,
    proj_weight: Array,
    proj_bias: Array,
    mask: Array | None,
    need_weights: bool,
    average_attn_weights: bool,
    mask_type: int | None,
) -> tuple[Array, Array | None]:
    def heads(tokens: Array, weight: Array, bias: Array) -> Array:
        projected = linear(tokens, weight, bias)
        return projected.reshape(*projected.shape[:2], num_head, -1).swapaxes(1, 2)

    weights, biases = jnp.split(qkv_weight, 3), jnp.split(qkv_bias, 3)
    q, k, v = map(heads, (query, key, value), weights, biases)
    q = q / math.sqrt(embed_dim // num_head)
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=opmath_dtype(q.dtype))
    if mask is not None:
        scores = jnp.where(_per_score(mask, mask_type), -jnp.inf, scores)
    attention = jax.nn.softmax(scores, -1)
    if mask is not None:
        attention = jnp.where(_per_score(mask, mask_type), 0, attention)
    attention = attention.astype(query.dtype)
    context = jnp.einsum("bhqk,bhkd->bqhd", attention, v, preferred_element_type=opmath_dtype(v.dtype))
    context = context.reshape(*query.shape[:2], -1).astype(query.dtype)
    output = linear(context, proj_weight, proj_bias)
    if not need_weights:
        return output, None
    return output, opmath(attention).mean(1).astype(query.dtype) if average_attn_weights else attention


def transformer_encoder_layer(
    src: Array,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Array,
    qkv_bias: Array,
    proj_weight: Array,
    proj_bias: Array,
    use_gelu: bool,
    norm_first: bool,
    eps: Array,
    norm_weight_1: Array,
    norm_bias_1: Array,
    norm_weight_2: Array,
    norm_bias_2: Array,
    ffn_weight_1: Array,
    ffn_bias_1: Array,
    ffn_weight_2: Array,
    ffn_bias_2: Array,
    mask: Array | None,
    mask_type: int | None,
) -> Array:
    def attend(x: Array) -> Array:
        projections = (qkv_weight, qkv_bias, proj_weight, proj_bias)
        return native_multi_head_attention(
            x, x, x, embed_dim, num_heads, *projections, mask, False, False, mask_type
        )[0]

    def feed_forward(x: Array) -> Array:
        hidden = linear(x, ffn_weight_1, ffn_bias_1)
        activated = jax.nn.gelu(opmath(hidden), approximate=False) if use_gelu else jax.nn.relu(hidden)
        return linear(activated.astype(x.dtype), ffn_weight_2, ffn_bias_2)

    def normalize(x: Array, weight: Array, bias: Array) -> Array:
        return layer_norm(x, (embed_dim,), weight, bias, eps)[0]

    if not src.size:
        return src
    x = src
    for transform, weight, bias in (
        (attend, norm_weight_1, norm_bias_1),
        (feed_forward, norm_weight_2, norm_bias_2),
    ):
        if norm_first:
            x = x + transform(normalize(x, weight, bias))
        else:
            x = normalize(x + transform(x), weight, bias)
    return x


def split_heads(qkv: Array, qkv_bias: Array, num_heads: int) -> tuple[Array, Array, Array]:
    """(batch, tokens, 3 * width) to query, key and value by head; the query is scaled."""
    biased = opmath(qkv) + opmath(qkv_bias)
    by_head = biased.reshape(*qkv.shape[:2], 3, num_heads, -1).transpose(2, 0, 3, 1, 4)
    query, key, value = by_head
    return tuple(each.astype(qkv.dtype) for each in (query / math.sqrt(query.shape[-1]), key, value))


def linear(x: Array, weight: Array, bias: Array) -> Array:
    return (contract(x, weight, ((x.ndim - 1,), (1,))) + opmath(bias)).astype(x.dtype)


def _per_score(mask: Array, mask_type: int | None) -> Array:
    """The mask against (batch, head, query, key)."""
    return mask.astype(bool)[:, None, None, :] if mask_type == KEYS else mask.astype(bool)
