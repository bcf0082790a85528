"""One array in, one array out, element by element: where torch and jnp differ. Activations have their own module."""

import math

import jax
import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.opmath import opmath
from torchtpu.lowerings.promotion import Scalar, where


def angle(self: Array) -> Array:
    if jnp.iscomplexobj(self):
        return jnp.angle(self)
    # jnp.angle would say pi for -0.0.
    return where(jnp.isnan(self), self, where(self < 0, math.pi, jnp.zeros_like(self)))


def complex_of(real: Array, imag: Array) -> Array:
    return lax.complex(*jnp.broadcast_arrays(opmath(real), opmath(imag)))


def sign(self: Array) -> Array:
    """-1, 0 or 1; a nan has none and gives 0."""
    if self.dtype == jnp.bool_:
        return self
    return (self > 0).astype(self.dtype) - (self < 0).astype(self.dtype)


def sgn(self: Array) -> Array:
    return jnp.sign(self) if jnp.iscomplexobj(self) else sign(self)


def signbit(self: Array) -> Array:
    return jnp.signbit(self) if jnp.issubdtype(self.dtype, jnp.floating) else self < jnp.zeros_like(self)


def round_decimals(self: Array, decimals: int) -> Array:
    scale = 10.0 ** abs(decimals)
    return jnp.round(self * scale) / scale if decimals >= 0 else jnp.round(self / scale) * scale


def sinh(self: Array) -> Array:
    """Far from 0 from the square of exp(|x|/2), which overflows where the result does, and rounds twice only."""
    if jnp.iscomplexobj(self):
        return jnp.sinh(self)
    half = jnp.exp(jnp.abs(self) / 2)
    far = jnp.sign(self) * ((half / 2) * half - (0.5 / half) / half)
    return jnp.where(jnp.abs(self) < 1, jnp.sinh(self), far)


def cosh(self: Array) -> Array:
    """See sinh."""
    if jnp.iscomplexobj(self):
        return jnp.cosh(self)
    half = jnp.exp(jnp.abs(self) / 2)
    return (half / 2) * half + (0.5 / half) / half


def i0(self: Array) -> Array:
    """The modified Bessel function; XLA has the scaled form, exp(-|x|) I0(x)."""
    return jnp.exp(jnp.abs(self)) * lax.bessel_i0e(self)


def logit(self: Array, eps: Scalar | None) -> Array:
    if eps is not None:
        # A negative eps means no clamping.
        eps = lax.convert_element_type(eps, self.dtype)
        self = where(eps < 0, self, jnp.clip(self, eps, 1 - eps))
    return jnp.log(self / (1 - self))


def logit_backward(grad_output: Array, self: Array, eps: Scalar | None) -> Array:
    slope = grad_output / (self * (1 - self))
    if eps is None:
        return where((self < 0) | (self > 1), jnp.nan, slope)
    eps = lax.convert_element_type(eps, self.dtype)
    low = jnp.maximum(eps, 0)
    outside = where(eps < 0, jnp.nan, jnp.zeros_like(low))
    return where((self < low) | (self > 1 - low), outside, slope)


def nan_to_num(self: Array, nan: Scalar | None, posinf: Scalar | None, neginf: Scalar | None) -> Array:
    """Infinities become the largest numbers of the type that torch stores, so bfloat16 is not computed in float32."""
    if not jnp.issubdtype(self.dtype, jnp.inexact):
        return self
    if jnp.iscomplexobj(self):
        return lax.complex(*(nan_to_num(part, nan, posinf, neginf) for part in (self.real, self.imag)))
    limits = jnp.finfo(self.dtype)
    replacements = (
        (jnp.isnan(self), 0 if nan is None else nan),
        (self == jnp.inf, limits.max if posinf is None else posinf),
        (self == -jnp.inf, limits.min if neginf is None else neginf),
    )
    for found, value in replacements:
        self = jnp.where(found, lax.convert_element_type(value, self.dtype), self)
    return self


def log_sigmoid_forward(self: Array) -> tuple[Array, Array]:
    """log(sigmoid(x)) without overflow, and exp(-|x|), which torch keeps for the backward."""
    buffer = jnp.exp(-jnp.abs(self))
    return jnp.minimum(self, 0) - jnp.log1p(buffer), buffer


def log_sigmoid_backward(grad_output: Array, self: Array, buffer: Array) -> Array:
    del buffer  # sigmoid(-x) is as cheap as what torch derives from it
    return grad_output * jax.nn.sigmoid(-self)


def i1(self: Array) -> Array:
    """The modified Bessel function of order 1, as for i0."""
    return jnp.exp(jnp.abs(self)) * i1e(self)


def i1e(self: Array) -> Array:
    """Of -0 it is 0 in torch."""
    return where(self == 0, 0, lax.bessel_i1e(self))


def erfinv(self: Array) -> Array:
    """XLA's polynomial, which has five right digits and fewer near 1, then Newton's steps, as torch takes them."""
    size = jnp.abs(self)
    value = lax.erf_inv(size)
    for _ in range(3):
        slope = 2 / math.sqrt(math.pi) * jnp.exp(-value * value)
        # Near 1 erf has no digits left to compare; what is missing to 1 has.
        missing = where(size > 0.5, lax.erfc(value) - (1 - size), size - lax.erf(value))
        value = where(size < 1, value + missing / slope, value)
    return jnp.copysign(value, self)


def frexp(self: Array) -> tuple[Array, Array]:
    """What is not finite has exponent 0."""
    mantissa, exponent = jnp.frexp(self)
    finite = jnp.isfinite(self)
    return where(finite, mantissa, self), where(finite, exponent, 0).astype(jnp.int32)
