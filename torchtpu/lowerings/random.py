"""Random numbers. In-place ops take `self` for its shape and dtype; `key` is an operand, so every call differs."""

import jax
import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings.checked import Checked, checked
from torchtpu.lowerings.opmath import opmath, opmath_dtype
from torchtpu.lowerings.promotion import Scalar


def uniform(key: Array, self: Array, from_: Array, to: Array) -> Array:
    if jnp.iscomplexobj(self):  # PyTorch draws both parts
        parts = uniform(key, jnp.stack([self.real, self.imag]), jnp.real(from_), jnp.real(to))
        return jax.lax.complex(parts[0], parts[1])
    drawn = from_ + jax.random.uniform(key, self.shape, self.dtype) * (to - from_)
    # Rounding may reach the end of [from, to), which is not part of it.
    return jnp.where(drawn < to, drawn, from_).astype(self.dtype)


def normal(key: Array, self: Array, mean: Array, std: Array) -> Array:
    return (mean + std * _normal(key, self)).astype(self.dtype)


def normal_of(key: Array, mean: Array, std: Array) -> Checked:
    """One sample for each pair of a mean and a deviation; either may be a number."""
    shape = jnp.broadcast_shapes(jnp.shape(mean), jnp.shape(std))
    drawn = jax.random.normal(key, shape, jnp.result_type(mean, std))
    return checked(mean + std * drawn, jnp.all(std >= 0))


def log_normal(key: Array, self: Array, mean: Array, std: Array) -> Array:
    return jnp.exp(mean + std * _normal(key, self)).astype(self.dtype)


def _normal(key: Array, self: Array) -> Array:
    return jax.random.normal(key, self.shape, opmath_dtype(self.dtype))


def cauchy(key: Array, self: Array, median: Array, sigma: Array) -> Array:
    return (median + sigma * jax.random.cauchy(key, self.shape, opmath_dtype(self.dtype))).astype(self.dtype)


def exponential(key: Array, self: Array, lambd: Array) -> Array:
    return (jax.random.exponential(key, self.shape, opmath_dtype(self.dtype)) / lambd).astype(self.dtype)


def geometric(key: Array, self: Array, p: Array) -> Array:
    """The number of trials up to the first success, which is at least 1."""
    drawn = jax.random.exponential(key, self.shape, jnp.float64 if self.dtype == jnp.float64 else jnp.float32)
    return jnp.maximum(jnp.ceil(drawn / -jnp.log1p(-jnp.asarray(p, drawn.dtype))), 1).astype(self.dtype)


def bernoulli(key: Array, self: Array) -> Checked:
    return _coin(key, self, self.shape, self.dtype)


def bernoulli_of_number(key: Array, self: Array, p: Array) -> Array:
    return jax.random.bernoulli(key, jnp.asarray(p, jnp.float32), self.shape).astype(self.dtype)


def bernoulli_of_tensor(key: Array, self: Array, p: Array) -> Checked:
    return _coin(key, p, self.shape, self.dtype)


def _coin(key: Array, p: Array, shape: tuple[int, ...], dtype: jnp.dtype) -> Checked:
    value = jax.random.bernoulli(key, opmath(p), shape).astype(dtype)
    return checked(value, jnp.all((p >= 0) & (p <= 1)))


def integers(key: Array, self: Array, from_: Array | int = 0, to: Array | None = None) -> Array:
    """Integers of [from, to); without an end, up to the largest that the dtype holds exactly."""
    largest = _largest_integer(self.dtype)
    beyond_int32 = self.dtype.itemsize == 8 or self.dtype == jnp.uint32
    if jnp.issubdtype(self.dtype, jnp.floating):
        # Between given bounds, which are programs' operands, float32 and bfloat16 have integers of any size.
        bounded = to is not None or not isinstance(from_, int)
        beyond_int32 |= bounded and self.dtype != jnp.float16
        from_ = 1 - _end_that_rounds_inside(1 - from_, self.dtype) if bounded else from_
        to = None if to is None else _end_that_rounds_inside(to, self.dtype)
    width = jnp.int64 if beyond_int32 else jnp.int32
    end = min(largest + 1, jnp.iinfo(width).max) if to is None else to
    return jax.random.randint(key, self.shape, from_, end, width).astype(self.dtype)


def _end_that_rounds_inside(to: Array | int, dtype: jnp.dtype) -> Array:
    """`to`, or, where the integer before it rounds to `to` or more, what is one step of the dtype below."""
    last = jnp.asarray(to, jnp.int64) - 1
    rounded = last.astype(dtype).astype(jnp.int64)
    exponent = 63 - jax.lax.clz(jnp.abs(last))
    step = jnp.int64(1) << jnp.maximum(exponent - jnp.finfo(dtype).nmant, 0)
    return jnp.where(rounded > last, rounded - step, last + 1)


def _largest_integer(dtype: jnp.dtype) -> int:
    if dtype == jnp.bool_:
        return 1
    return jnp.iinfo(dtype).max if jnp.issubdtype(dtype, jnp.integer) else 2 ** (jnp.finfo(dtype).nmant + 1)


def permutation(key: Array, n: int, dtype: jnp.dtype | None) -> Array:
    return jax.random.permutation(key, jnp.arange(n, dtype=jnp.int32)).astype(dtype or jnp.int64)


def multinomial(key: Array, self: Array, num_samples: int, replacement: bool) -> Checked:
    """Gumbel's trick: the largest of log(weight) + noise are distributed as draws by weight."""
    weights = opmath(self)
    valid = jnp.all((weights >= 0) & jnp.isfinite(weights)) & jnp.all(weights.sum(-1) > 0)
    logits = jnp.log(weights)
    if replacement:
        shape = (num_samples, *weights.shape[:-1])
        drawn = jnp.moveaxis(jax.random.categorical(key, logits, shape=shape), 0, -1)
    else:
        _, drawn = jax.lax.top_k(logits + jax.random.gumbel(key, logits.shape, logits.dtype), num_samples)
    return checked(drawn.astype(jnp.int64), valid)


def standard_gamma(key: Array, self: Array) -> Array:
    """At least the smallest normal number, since torch's distributions take logarithms."""
    drawn = jax.random.gamma(key, opmath(self), dtype=opmath_dtype(self.dtype))
    return jnp.maximum(drawn.astype(self.dtype), jnp.finfo(self.dtype).tiny)


def sample_dirichlet(key: Array, self: Array) -> Array:
    """Gamma numbers divided by their sum, as logarithms: those of a small `self` are too small for numbers."""
    drawn = jax.random.loggamma(key, opmath(self), dtype=opmath_dtype(self.dtype))
    limits = jnp.finfo(self.dtype)
    largest = jnp.asarray(1 - float(limits.epsneg), self.dtype)
    return jnp.clip(jax.nn.softmax(drawn, axis=-1).astype(self.dtype), limits.tiny, largest)


_MANY = 1e7  # events, of which a normal distribution tells as much as float32 can


def poisson(key: Array, self: Array) -> Checked:
    rate = opmath(self)
    few = jax.random.poisson(key, jnp.clip(rate, 0, _MANY), dtype=jnp.int32).astype(rate.dtype)
    many = jnp.round(rate + jnp.sqrt(rate) * jax.random.normal(key, rate.shape, rate.dtype))
    drawn = jnp.where(rate > _MANY, many, few)
    return checked(drawn.astype(self.dtype), jnp.all(rate >= 0))


def binomial(key: Array, count: Array, prob: Array) -> Array:
    """Counts that are not whole count as the whole number below; nothing comes of less than one trial."""
    count, prob = jnp.broadcast_arrays(count, prob)
    dtype = opmath_dtype(count.dtype)
    tries, p = jnp.maximum(count.astype(dtype), 0), jnp.clip(prob.astype(dtype), 0, 1)
    drawn = jax.random.binomial(key, tries, p, dtype=dtype)
    return jnp.where(jnp.isnan(prob), jnp.nan, drawn).astype(count.dtype)


def rrelu_with_noise(
    key: Array, self: Array, noise: Array, lower: Scalar, upper: Scalar, training: bool
) -> tuple[Array, Array]:
    """Leaky ReLU whose slope is drawn for each element; `noise` becomes the slopes."""
    if not training:
        slope = jax.lax.convert_element_type((lower + upper) / 2, self.dtype)
        return jnp.where(self > 0, self, self * slope), noise
    drawn = uniform(key, opmath(self), lower, upper)
    slopes = jnp.where(self <= 0, drawn, jnp.ones_like(drawn))
    return (opmath(self) * slopes).astype(self.dtype), slopes.astype(noise.dtype)
