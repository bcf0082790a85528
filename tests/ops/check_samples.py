"""Arguments that pass and that fail the predicates of csrc/dispatch/checks.h: the `checks` of entries of ops.yaml.

A function here has the name of a check and returns the pairs that it knows for an entry: the arguments of a good call,
then of one that PyTorch's CPU refuses for its values. Both have one key (shapes, dtypes, kinds of numbers), so the
second finds a compiled program, and nothing but the check can refuse it. Numbers that get a program of their own, such
as the schema's defaults, are therefore no good here.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch

from tests.ops.samples import Arguments


@dataclass(frozen=True)
class Pair:
    """other_key: why the bad call cannot have the key of the good one; it is refused before anything is compiled."""

    good: Arguments
    bad: Arguments
    other_key: str | None = None


def pairs(check: str, entry: str) -> list[Pair]:
    known = globals()[check](entry) if check in globals() else []
    assert known, f"{entry}: add a good and a bad call for the check {check} to tests/ops/check_samples.py"
    return known


def value_fits_self(entry: str) -> list[Pair]:
    """300 overflows uint8."""
    matrix, index = _bytes(2, 3), torch.tensor([[0, 1, 0]])
    before: dict[str, tuple] = {
        "constant_pad_nd": (matrix, [1, 1]),
        "fill.Scalar": (matrix,),
        "index_fill.int_Scalar": (matrix, 0, torch.tensor([1])),
        "masked_fill.Scalar": (matrix, torch.tensor([True, False, True])),
        "scatter.value": (matrix, 0, index),
        "scatter.value_reduce": (matrix, 0, index),
    }
    options = {"reduce": "add"} if entry == "scatter.value_reduce" else {}
    return [Pair(((*before[entry], 5), options), ((*before[entry], 300), options))] if entry in before else []


def bounds_fit(entry: str) -> list[Pair]:
    """Neither bound may overflow; a clamp without one of them is another program."""
    numbers = _bytes(4)
    if entry == "clamp":
        return [_pair((numbers, 1, 5), (numbers, 1, 300)), _pair((numbers, 1, 5), (numbers, -300, 5))]
    return [_pair((numbers, 5), (numbers, bound)) for bound in (300, -300)]


def alpha_matches_dtype(entry: str) -> list[Pair]:
    """The kind of alpha, which meta kernels let pass. The tensors are too large for the miss path to ask the CPU."""
    reason = "the kind of a number is in the key"
    integers, floats = (torch.ones(1 << 17, dtype=dtype) for dtype in (torch.int64, torch.float32))
    return [
        Pair(((integers, integers), {"alpha": 2}), ((integers, integers), {"alpha": 0.5}), reason),
        Pair(((floats, floats), {"alpha": 0.5}), ((floats, floats), {"alpha": True}), reason),
    ]


def no_integer_to_negative_power(entry: str) -> list[Pair]:
    numbers = torch.tensor([1, 2, 3])
    return [_pair((numbers, 4), (numbers, -2))]


def arange_bounds(entry: str) -> list[Pair]:
    """The length is in the key, and wrong bounds have a negative one, except when it is rounded to -0."""
    on_cpu = {"device": torch.device("cpu")}
    reason = "with its end, it has at least one element" if entry == "range.step" else None
    return [Pair(((0.0, 0.0, 2.0), on_cpu), ((0.0, -0.5, 2.0), on_cpu), reason)]


def renorm_maxnorm(entry: str) -> list[Pair]:
    return [_pair((torch.ones(2, 3), 2, 0, 1.5), (torch.ones(2, 3), 2, 0, -1.5))]


def leaky_relu_in_place_slope(entry: str) -> list[Pair]:
    numbers = torch.tensor([-1.0, 2.0])
    return [_pair((numbers, numbers, 0.2, True), (numbers, numbers, -0.2, True))]


def elu_in_place_alpha(entry: str) -> list[Pair]:
    numbers = torch.tensor([-0.5, 2.0])
    return [_pair((numbers, 0.7, 1.5, 1.5, True, numbers), (numbers, -0.7, 1.5, 1.5, True, numbers))]


def uniform_bounds(entry: str) -> list[Pair]:
    """In order, each within the dtype, and so is their distance."""
    good, half = (torch.zeros(4), 2.0, 3.0), torch.zeros(4, dtype=torch.float16)
    bad = [(3.0, 2.0), (2.0, 1e39), (-1e39, 2.0), (-3e38, 3e38), (2.0, math.inf), (math.nan, 2.0)]
    return [*(_pair(good, (torch.zeros(4), *bounds)) for bounds in bad), _pair((half, 2.0, 3.0), (half, 2.0, 1e5))]


def normal_std(entry: str) -> list[Pair]:
    before = (torch.zeros(4),) if entry == "normal.Tensor_float" else (torch.zeros(4), 2.0)
    return [_pair((*before, 3.0), (*before, -3.0))]


def log_normal_std(entry: str) -> list[Pair]:
    return [_pair((torch.zeros(4), 0.5, 3.0), (torch.zeros(4), 0.5, -3.0))]


def cauchy_sigma(entry: str) -> list[Pair]:
    return [_pair((torch.zeros(4), 0.5, 3.0), (torch.zeros(4), 0.5, -3.0))]


def exponential_lambda(entry: str) -> list[Pair]:
    return [_pair((torch.zeros(4), 3.0), (torch.zeros(4), -3.0))]


def geometric_p(entry: str) -> list[Pair]:
    return [_pair((torch.zeros(4), 0.3), (torch.zeros(4), p)) for p in (-0.3, 1.3)]


def bernoulli_p(entry: str) -> list[Pair]:
    return [_pair((torch.zeros(4), 0.3), (torch.zeros(4), p)) for p in (-0.3, 1.3)]


def random_from_to(entry: str) -> list[Pair]:
    """Bounds in order, and within the dtype."""
    if entry == "random_.to":
        return [_pair((torch.zeros(4), 7), (torch.zeros(4), -7)), _pair((_bytes(4), 7), (_bytes(4), 300))]
    return [
        _pair((torch.zeros(4), -3, 7), (torch.zeros(4), 7, -3)),
        _pair((_bytes(4), 3, 7), (_bytes(4), 3, 300)),
        _pair((_bytes(4), 3, 7), (_bytes(4), -3, 7)),
        _pair((torch.zeros(4), -3, None), (torch.zeros(4), 2**24, None)),
        _pair((_halves(4), -3, 7), (_halves(4), 65503, 65504)),
    ]


def _pair(good: tuple[Any, ...], bad: tuple[Any, ...]) -> Pair:
    return Pair((good, {}), (bad, {}))


def _halves(*shape: int) -> torch.Tensor:
    return torch.ones(shape, dtype=torch.float16)


def _bytes(*shape: int) -> torch.Tensor:
    return torch.ones(shape, dtype=torch.uint8)
