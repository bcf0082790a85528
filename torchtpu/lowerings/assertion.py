"""Assertions about the values of a tensor, which must be one true element. The CPU says what is wrong otherwise."""

import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings.checked import Checked, checked


def assert_async(self: Array) -> Checked:
    return checked((), _holds(self))


def assert_async_msg(self: Array, assert_msg: str) -> Checked:
    del assert_msg  # the CPU's exception has it
    return checked((), _holds(self))


def functional_assert_async(self: Array, assert_msg: str, dep_token: Array) -> Checked:
    """dep_token, once the assertion holds: what orders it among other ops."""
    del assert_msg
    return checked(dep_token, _holds(self))


def _holds(self: Array) -> Array:
    return jnp.all(self != 0) if self.size == 1 else jnp.bool_(False)
