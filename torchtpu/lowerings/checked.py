"""A result together with the verdict on its input values."""

from typing import Any, NamedTuple

import jax


class Checked(NamedTuple):
    """`value` counts only if `ok`, a 0-d bool array, is true; otherwise the runtime asks torch CPU for its exception.

    `value` must be safe to compute either way: clamp the index, replace the divisor.
    """

    value: Any
    ok: jax.Array


def checked(value: Any, ok: jax.Array) -> Checked:
    """`value`, provided that `ok`."""
    return Checked(value, ok)
