"""The activations that need more than an expression, and the slopes that torch's backward ops multiply with."""

import jax
import jax.numpy as jnp
from jax import lax

from torchtpu.lowerings.promotion import where


def gelu(self, approximate):
    return jax.nn.gelu(self, approximate=approximate == "tanh")


def silu(self):
    return self * jax.nn.sigmoid(self)


def silu_backward(grad_output, self):
    """For complex numbers torch does not conjugate the slope."""
    gate = jax.nn.sigmoid(self)
    return grad_output * (gate * (1 + self * (1 - gate)))


def mish(self):
    return self * jnp.tanh(jnp.logaddexp(self, 0))


def hardtanh(self, min_val, max_val):
    low, high = (lax.convert_element_type(bound, self.dtype) for bound in (min_val, max_val))
    return jnp.clip(self, low, high)


def elu(self, alpha, scale, input_scale):
    return scale * jnp.where(self > 0, self, alpha * jnp.expm1(self * input_scale))


def elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result):
    """For a negative x the slope is scale * input_scale * alpha * exp(x * input_scale); a result y is scale * alpha short."""
    coefficient = scale * alpha
    if is_result:
        negative = input_scale * (self_or_result + coefficient)
    else:
        negative = input_scale * coefficient * jnp.exp(self_or_result * input_scale)
    return grad_output * where(self_or_result <= 0, negative, scale)


def softplus(self, beta, threshold):
    """log(1 + exp(beta x)) / beta, and x itself where that no longer differs."""
    scaled = self * beta
    return jnp.where(scaled > threshold, self, jnp.log1p(jnp.exp(scaled)) / beta)


def softplus_backward(grad_output, self, beta, threshold):
    scaled = self * beta
    return grad_output * where(scaled > threshold, 1, jax.nn.sigmoid(scaled))


def threshold(self, threshold, value):
    threshold = lax.convert_element_type(threshold, self.dtype)
    return jnp.where(self <= threshold, lax.convert_element_type(value, self.dtype), self)


def glu(self, dim):
    value, gate = jnp.split(self, 2, axis=dim)
    return value * jax.nn.sigmoid(gate)


def prelu(self, weight):
    return jnp.where(self > 0, self, weight * self)


def prelu_backward(grad_output, self, weight):
    positive = self > 0
    return jnp.where(positive, grad_output, weight * grad_output), where(positive, 0, self * grad_output)


def softshrink(self, lambd):
    return jnp.where(self > lambd, self - lambd, jnp.where(self < -lambd, self + lambd, self * 0))
