"""What quantization would make of numbers, in numbers: rounded to a grid and cut off; and which were not cut off."""

import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings.opmath import opmath
from torchtpu.lowerings.promotion import Scalar


def per_tensor(self: Array, scale: Scalar, zero_point: int, quant_min: int, quant_max: int) -> tuple[Array, Array]:
    return _on_grid(self, scale, zero_point, quant_min, quant_max)


def per_tensor_if_enabled(
    self: Array, scale: Array, zero_point: Array, fake_quant_enabled: Array, quant_min: int, quant_max: int
) -> tuple[Array, Array]:
    """`scale`, `zero_point` and `fake_quant_enabled` are of one element."""
    output, mask = _on_grid(self, scale.reshape(()), zero_point.reshape(()), quant_min, quant_max)
    enabled = fake_quant_enabled.reshape(()) != 0
    return jnp.where(enabled, output, self), mask | ~enabled


def per_channel(
    self: Array, scale: Array, zero_point: Array, axis: int, quant_min: int, quant_max: int
) -> tuple[Array, Array]:
    shape = [-1 if each == axis % self.ndim else 1 for each in range(self.ndim)]
    return _on_grid(self, scale.reshape(shape), zero_point.reshape(shape), quant_min, quant_max)


def _on_grid(self: Array, scale, zero_point, low: int, high: int) -> tuple[Array, Array]:
    """In float32 throughout: torch multiplies by the inverse of the scale, which shows in the last bit."""
    values, scale = opmath(self), jnp.asarray(scale, jnp.float32)
    zero_point = jnp.asarray(zero_point, jnp.float32)
    place = zero_point + jnp.round(values * (1 / scale))
    output = (jnp.clip(place, low, high) - zero_point) * scale
    return output.astype(self.dtype), (place >= low) & (place <= high)
