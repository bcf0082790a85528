"""The activations that need more than an expression, and the slopes that torch's backward ops multiply with."""

import jax
import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.promotion import Scalar, where


def gelu(self: Array, approximate: str) -> Array:
    return jax.nn.gelu(self, approximate=approximate == "tanh")


def gelu_backward(grad_output: Array, self: Array, approximate: str) -> Array:
    """The slope first, so that an infinite gradient meets 0 only where the slope is 0."""
    if approximate == "tanh":
        rate, cubic = (2 / jnp.pi) ** 0.5, 0.044715
        gate = jnp.tanh(rate * (self + cubic * self * self * self))
        change = (1 - gate * gate) * rate * (1 + 3 * cubic * self * self)
        return grad_output * (0.5 * (1 + gate) + 0.5 * self * change)
    below = 0.5 * (1 + lax.erf(self * 0.5**0.5))
    density = jnp.exp(-0.5 * self * self) * (2 * jnp.pi) ** -0.5
    return grad_output * (below + self * density)


def silu(self: Array) -> Array:
    return self * jax.nn.sigmoid(self)


def silu_backward(grad_output: Array, self: Array) -> Array:
    """For complex numbers torch does not conjugate the slope."""
    gate = jax.nn.sigmoid(self)
    return grad_output * (gate * (1 + self * (1 - gate)))


def mish(self: Array) -> Array:
    return self * jnp.tanh(jnp.logaddexp(self, 0))


def hardtanh(self: Array, min_val: Scalar, max_val: Scalar) -> Array:
    low, high = (lax.convert_element_type(bound, self.dtype) for bound in (min_val, max_val))
    return jnp.where(self < low, low, jnp.where(self > high, high, self))  # -0 stays


def elu(self: Array, alpha: Scalar, scale: Scalar, input_scale: Scalar) -> Array:
    return scale * jnp.where(self > 0, self, alpha * jnp.expm1(self * input_scale))


def elu_backward(
    grad_output: Array, alpha: Scalar, scale: Scalar, input_scale: Scalar, is_result: bool, self_or_result: Array
) -> Array:
    """Where x is negative, its result plus c = scale * alpha is c * exp(x * input_scale), the slope / input_scale."""
    coefficient = scale * alpha
    if is_result:
        negative = input_scale * (self_or_result + coefficient)
    else:
        negative = input_scale * coefficient * jnp.exp(self_or_result * input_scale)
    return grad_output * where(self_or_result <= 0, negative, scale)


def softplus(self: Array, beta: Scalar, threshold: Scalar) -> Array:
    """log(1 + exp(beta x)) / beta, and x itself where that no longer differs."""
    scaled = self * beta
    return jnp.where(scaled > threshold, self, jnp.log1p(jnp.exp(scaled)) / beta)


def softplus_backward(grad_output: Array, self: Array, beta: Scalar, threshold: Scalar) -> Array:
    scaled = self * beta
    return grad_output * where(scaled > threshold, 1, jax.nn.sigmoid(scaled))


def threshold(self: Array, threshold: Scalar, value: Scalar) -> Array:
    threshold = lax.convert_element_type(threshold, self.dtype)
    return jnp.where(self <= threshold, lax.convert_element_type(value, self.dtype), self)


def glu(self: Array, dim: int) -> Array:
    value, gate = jnp.split(self, 2, axis=dim)
    return value * jax.nn.sigmoid(gate)


def glu_jvp(glu: Array, x: Array, dx: Array, dim: int) -> Array:
    """How glu(x) changes with a change dx of x."""
    gate = jax.nn.sigmoid(jnp.split(x, 2, axis=dim)[1])
    dvalue, dgate = jnp.split(dx, 2, axis=dim)
    return dvalue * gate + dgate * (1 - gate) * glu


def glu_backward_jvp(grad_x: Array, grad_glu: Array, x: Array, dgrad_glu: Array, dx: Array, dim: int) -> Array:
    """How glu_backward(grad_glu, x) changes with both."""
    del grad_x

    def backward(grad_glu: Array, x: Array) -> Array:
        return jax.vjp(lambda x: glu(x, dim), x)[1](grad_glu)[0]

    return jax.jvp(backward, (grad_glu, x), (dgrad_glu, dx))[1]


def prelu(self: Array, weight: Array) -> Array:
    return jnp.where(self > 0, self, weight * self)


def prelu_backward(grad_output: Array, self: Array, weight: Array) -> tuple[Array, Array]:
    positive = self > 0
    return jnp.where(positive, grad_output, weight * grad_output), where(positive, 0, self * grad_output)


def softshrink(self: Array, lambd: Scalar) -> Array:
    return jnp.where(self > lambd, self - lambd, jnp.where(self < -lambd, self + lambd, self * 0))
