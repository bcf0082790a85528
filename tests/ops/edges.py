"""Numbers at the edges of a dtype, for ops that compute element by element."""

import math
from typing import Any

import torch
from torch.utils import _pytree as pytree

from tests import compare
from tests.ops.calls import Call, overload

# Subnormal numbers are missing: XLA computes with them as zero. So is the least integer: divided by -1 it ends torch CPU.
_FLOATS = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-15, -1e15, 88.0, -700.0)
_INTEGERS = (0, 1, -1, 2, -7, 63, 64, 1 - 2**63, 2**63 - 1)
# Which of two zeros is returned depends on the CPU's vector instructions; and Bessel's functions of -0 are of either sign.
_OF_ANY_SIGN = ("clamp", "fmax", "fmin", "hardtanh", "maximum", "minimum", "relu", "special_i1", "special_bessel_j1", "special_modified_bessel_i1")
NUMBERS = {"float32": _FLOATS, "int64": _INTEGERS}


def apply_to(name: str | None) -> bool:
    return name is not None and torch.Tag.pointwise in overload(name).tags


def instead(call: Call) -> Call:
    """The call with the dtype's edges in place of its tensors, of which three meet in all combinations."""
    tensors = list({id(tensor): tensor for tensor in call.tensors()}.values())
    places = {id(tensor): place for place, tensor in enumerate(tensors[:3])}

    sizes = [len(NUMBERS.get(_name(tensor.dtype), (0,))) for tensor in tensors[:3]]

    def edges(tensor: torch.Tensor) -> torch.Tensor:
        numbers = NUMBERS.get(_name(tensor.dtype))
        if numbers is None or id(tensor) not in places:
            return tensor.flatten()[:1].clone()
        made = torch.tensor(numbers, dtype=tensor.dtype).reshape(-1, *[1] * (len(places) - 1))
        return made.movedim(0, places[id(tensor)]).expand(sizes).contiguous()

    return call.map(edges)


def _name(dtype: torch.dtype) -> str:
    return str(dtype)[6:]


def assert_same(op: str, actual: Any, expected: Any, **tolerance: float) -> None:
    """Values, and the signs of zeros."""
    compare.assert_same(actual, expected, strides=False, **tolerance)
    if op.startswith(_OF_ANY_SIGN):
        return
    for ours, theirs in zip(pytree.tree_leaves(actual), pytree.tree_leaves(expected)):
        if theirs.is_floating_point():
            zeros = theirs == 0
            compare.assert_same(ours.cpu().signbit()[zeros], theirs.signbit()[zeros])
