"""A backward op as the vector-Jacobian product of its forward lowering."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp


def vjp(
    fn: Callable, *, wrt: Sequence[str], cotangent: Any, mask: Sequence[bool] | None, arguments: dict[str, Any]
) -> Any:
    """The gradients of `fn(**arguments)` with respect to the arguments `wrt`, weighted by `cotangent`.

    `cotangent` is an array, or a list of them if `fn` has several outputs; None in the list stands for zero.
    `mask` says which gradients are asked for; the others, and those of absent arguments, are None.
    One name in `wrt` gives the gradient itself, several give a tuple in their order.
    """
    wanted = mask or [True] * len(wrt)
    names = [name for name, asked in zip(wrt, wanted) if asked and arguments[name] is not None]

    def forward(*values):
        return fn(**{**arguments, **dict(zip(names, values))})

    outputs, pull_back = jax.vjp(forward, *(arguments[name] for name in names))
    weights = jax.tree.map(_weight, outputs, tuple(cotangent) if isinstance(outputs, tuple) else cotangent)
    gradients = dict(zip(names, jax.tree.map(jnp.conj, pull_back(weights))))
    return gradients.get(wrt[0]) if len(wrt) == 1 else tuple(gradients.get(name) for name in wrt)


def _weight(output: jax.Array, cotangent: jax.Array | None) -> jax.Array:
    """`cotangent` as JAX wants it. JAX's complex gradients are the conjugates of torch's, hence the conjugations."""
    if cotangent is None:
        return jnp.zeros_like(output)
    return jnp.broadcast_to(jnp.conj(cotangent), output.shape).astype(output.dtype)
