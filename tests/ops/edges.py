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
# ATen's loops over the degree return a variable that they never set where the argument is not a number.
_UNSET = tuple(
    f"special_{family}_polynomial_" for family in ("chebyshev", "shifted_chebyshev", "laguerre", "legendre")
)
NUMBERS = {"float32": _FLOATS, "int64": _INTEGERS}


def apply_to(name: str | None) -> bool:
    return name is not None and torch.Tag.pointwise in overload(name).tags


def instead(call: Call, without: tuple = ()) -> Call:
    """The call with the dtype's edges in place of its tensors, of which three meet in all combinations."""
    tensors = list({id(tensor): tensor for tensor in call.tensors()}.values())
    places = {id(tensor): place for place, tensor in enumerate(tensors[:3])}

    sizes = [len(_numbers(tensor.dtype, without) or (0,)) for tensor in tensors[:3]]

    def edges(tensor: torch.Tensor) -> torch.Tensor:
        numbers = _numbers(tensor.dtype, without)
        if not numbers or id(tensor) not in places:
            return tensor.flatten()[:1].clone()
        made = torch.tensor(numbers, dtype=tensor.dtype).reshape(-1, *[1] * (len(places) - 1))
        return made.movedim(0, places[id(tensor)]).expand(sizes).contiguous()

    return call.map(edges)


def _numbers(dtype: torch.dtype, without: tuple) -> list:
    return [number for number in NUMBERS.get(str(dtype)[6:], ()) if number not in without]


def alternative(op: str, call: Call) -> Any:
    """What the CPU says of the same numbers elsewhere in memory: its vector instructions and its loops disagree about
    gelu(inf), about which of two zeros is the larger, and the like."""
    result = call.map(_apart)()
    if op.startswith(_UNSET):
        result = torch.where(call.tensors()[0].isnan(), math.nan, result)
    return result


def _apart(tensor: torch.Tensor) -> torch.Tensor:
    return torch.stack([tensor, tensor], -1)[..., 0] if tensor.ndim else tensor


def assert_same(actual: Any, expected: Any, other: Any, **tolerance: float) -> None:
    """Values, and the signs of zeros, are those of one of the CPU's two results."""
    for ours, *theirs in zip(*map(pytree.tree_leaves, (actual, expected, other)), strict=True):
        ours = ours.cpu()
        as_other = _alike(ours, theirs[1], tolerance)
        compare.assert_same(ours, torch.where(as_other, theirs[1], theirs[0]), strides=False, **tolerance)
        if ours.is_floating_point():
            wrong = ~(as_other | _alike(ours, theirs[0], tolerance))
            assert not wrong.any(), f"zeros of the wrong sign: {int(wrong.sum())}"


def _alike(left: torch.Tensor, right: torch.Tensor, tolerance: dict[str, float]) -> torch.Tensor:
    close = torch.isclose(left, right, equal_nan=True, **(tolerance or compare.usual_tolerance(left.dtype)))
    zeros = (left == 0) & (right == 0)
    return close & ~(zeros & (left.signbit() != right.signbit())) if left.is_floating_point() else close
