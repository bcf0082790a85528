"""What a call's values contribute to its cache key, worked out from what its entry says (csrc/dispatch/call.cpp)."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch.utils import _pytree as pytree

from tests.ops.calls import Call

_FUNCTIONS = {"ceil": math.ceil, "floor": math.floor, "abs": abs, "max": max, "min": min}


def key(call: Call, numbers: Mapping[str, tuple[float, ...]], sizes: Mapping[str, str]) -> list[Any]:
    """Calls of one overload with equal keys share a program.

    numbers: the traced ones, each with the values that get a program of their own.
    sizes: the expressions of `sizes: {key: ...}`.
    """
    arguments = call.by_name()
    described = [(name, _describe(value, numbers.get(name))) for name, value in arguments.items()]
    return described + [int(eval(size, _FUNCTIONS | arguments)) for size in sizes.values()]


def _describe(value: Any, special: tuple[float, ...] | None) -> list[Any]:
    return [_describe_leaf(leaf, special) for leaf in pytree.tree_leaves(value)]


def _describe_leaf(leaf: Any, special: tuple[float, ...] | None) -> Any:
    if isinstance(leaf, torch.Tensor):
        return (leaf.dtype, leaf.shape, leaf.stride())
    if special is None or leaf is None or leaf in special:
        return (type(leaf), leaf)
    narrow = isinstance(leaf, int) and -(2**31) <= leaf < 2**31
    return (type(leaf), narrow)
