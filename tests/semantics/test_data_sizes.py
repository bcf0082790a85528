"""Results whose sizes are in the values of a tensor, where the generated tests do not look."""

import math

import pytest
import torch

from tests.compare import assert_same, assert_same_error, assert_same_outcome
from tests.device import DEVICE, compiles, no_fallback


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int64])
@pytest.mark.parametrize("minlength", [0, 3, 40])
def test_bincount(dtype: torch.dtype, minlength: int) -> None:
    numbers = torch.tensor([3, 0, 3, 17, 5, 0], dtype=dtype)
    with no_fallback():
        assert_same(torch.bincount(numbers.to(DEVICE), minlength=minlength), torch.bincount(numbers, minlength=minlength))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int32])
def test_bincount_adds_up_weights(dtype: torch.dtype) -> None:
    numbers, weights = torch.tensor([3, 0, 3, 17]), torch.tensor([1, 2, 4, 8]).to(dtype)
    assert_same(torch.bincount(numbers.to(DEVICE), weights.to(DEVICE)), torch.bincount(numbers, weights))


def test_a_program_of_bincount_serves_many_sizes() -> None:
    torch.bincount(torch.tensor([1, 9], device=DEVICE))
    others = torch.tensor([3, 4], device=DEVICE)
    with compiles(at_most=1):  # the cut
        assert_same(torch.bincount(others), torch.bincount(others.cpu()))


@pytest.mark.parametrize(
    "arguments",
    [
        (torch.tensor([1, -2]),),
        (torch.tensor([1.0, 2.0]),),
        (torch.tensor([True]),),
        (torch.tensor([[1], [2]]),),
        (torch.tensor([1, 2]), torch.ones(3)),
        (torch.tensor([1, 2]), None, -1),
    ],
)
def test_what_bincount_refuses(arguments: tuple) -> None:
    assert_same_error(DEVICE, lambda device: torch.bincount(*(x.to(device) if torch.is_tensor(x) else x for x in arguments)))


def test_bincount_of_nothing() -> None:
    nothing = torch.tensor([], dtype=torch.int64)
    assert_same(torch.bincount(nothing.to(DEVICE), minlength=3), torch.bincount(nothing, minlength=3))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("repeats", [[1, 0, 2], [0, 0], [], [30, 1]])
def test_repeat_interleave(repeats: list[int], dtype: torch.dtype) -> None:
    counts = torch.tensor(repeats, dtype=dtype)
    values = torch.arange(2.0 * len(repeats)).reshape(len(repeats), 2)
    with no_fallback():
        assert_same(torch.repeat_interleave(counts.to(DEVICE)), torch.repeat_interleave(counts))
        ours = torch.repeat_interleave(values.to(DEVICE), counts.to(DEVICE), dim=0)
    assert_same(ours, torch.repeat_interleave(values, counts, dim=0))


def test_repeat_interleave_of_a_known_size_waits_for_nothing() -> None:
    counts = torch.tensor([1, 0, 2])
    ours = torch.repeat_interleave(counts.to(DEVICE), output_size=3)
    assert_same(ours, torch.repeat_interleave(counts, output_size=3))


@pytest.mark.parametrize("counts", [torch.tensor([1, -1]), torch.tensor([[1]]), torch.tensor([1.0])])
def test_what_repeat_interleave_refuses(counts: torch.Tensor) -> None:
    assert_same_error(DEVICE, lambda device: torch.repeat_interleave(counts.to(device)))


NUMBERS = [
    torch.tensor([2.0, math.nan, 0.0, -0.0, math.nan, 2.0, -math.inf]),
    torch.tensor([[3, 1], [1, 3]], dtype=torch.int8),
    torch.tensor([True, False, True]),
    torch.tensor([1.5, 1.5, -2.0], dtype=torch.float16),
    torch.tensor(3),
    torch.zeros(0, 2),
]


@pytest.mark.parametrize("numbers", NUMBERS, ids=lambda x: f"{x.dtype}-{list(x.shape)}")
@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("counts", [False, True])
def test_unique(numbers: torch.Tensor, inverse: bool, counts: bool) -> None:
    for op in (torch.ops.aten._unique2, lambda x, _, *flags: torch.ops.aten.unique_consecutive(x, *flags)):
        assert_same(op(numbers.to(DEVICE), True, inverse, counts), op(numbers, True, inverse, counts))


@pytest.mark.parametrize(
    "numbers",
    [
        torch.tensor([[1, 2], [0, 5], [1, 2]]),
        torch.tensor([[2, 2, 1], [2, 2, 0]]),
        torch.tensor([[1.0, math.nan], [1.0, math.nan]]),
        torch.tensor([1, 1, 0, 1]),
        torch.zeros(0, 2),
        torch.zeros(2, 0),
        torch.tensor(1),
    ],
    ids=lambda x: f"{x.dtype}-{list(x.shape)}",
)
@pytest.mark.parametrize("dim", [0, 1, -1, 5])
def test_unique_slices(numbers: torch.Tensor, dim: int) -> None:
    for op in (torch.ops.aten.unique_dim, torch.ops.aten.unique_dim_consecutive):
        assert_same_outcome(lambda: op(numbers.to(DEVICE), dim), lambda: op(numbers, dim))
