"""A result whose size the data decides."""

from typing import NamedTuple

from jax import Array


class Padded(NamedTuple):
    """The first `count` rows of `value` along `axis`; the rest fills it up to a size that is known in advance.

    The runtime waits for the count and cuts. A lowering whose entry says `sizes: {data: ...}` returns these.
    """

    value: Array
    count: Array
    axis: int = 0
