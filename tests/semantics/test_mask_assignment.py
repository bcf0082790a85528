"""`x[mask] = value`: as on the CPU, and one program for all numbers of true elements where all of them get the same."""

import itertools

import pytest
import torch

from tests.compare import assert_same
from tests.device import compiles

MASKS = [torch.tensor([i >> bit & 1 for bit in range(12)], dtype=torch.bool).reshape(3, 4) for i in (0, 1, 2730, 4095)]

# The sizes of self, where the mask stands among the indices, and the sizes of the value.
CASES = {
    "number": ((3, 4), 0, ()),
    "one element": ((3, 4), 0, (1,)),
    "one element, more dimensions": ((3, 4, 2), 0, (1, 1)),
    "row": ((3, 4, 2), 0, (2,)),
    "row for each": ((3, 4, 2), 0, (1, 2)),
    "column": ((2, 3, 4), 1, (2, 1)),
    "both": ((2, 3, 4, 2), 1, (2, 1, 2)),
    "behind": ((2, 3, 4, 2), 1, (2,)),
}


@pytest.mark.parametrize("mask_device", ["cpu", "tpu"])
@pytest.mark.parametrize(("sizes", "place", "value"), CASES.values(), ids=CASES)
def test_a_value_for_all(sizes: tuple, place: int, value: tuple, mask_device: str) -> None:
    def program(device: str, mask: torch.Tensor) -> torch.Tensor:
        x = torch.arange(torch.Size(sizes).numel(), dtype=torch.float32).reshape(sizes).to(device)
        new = torch.arange(-1.0, -1.0 - torch.Size(value).numel(), -1).reshape(value).to(device)
        x[(slice(None),) * place + (mask.to(device if mask_device == "tpu" else "cpu"),)] = new
        return x

    expected = [program("cpu", mask) for mask in MASKS]
    assert_same(program("tpu", MASKS[1]), expected[1])
    with compiles(at_most=0):
        results = [program("tpu", mask) for mask in MASKS]
    for result, wanted in zip(results, expected):
        assert_same(result, wanted)


@pytest.mark.parametrize(("self", "value"), [*itertools.product([torch.float32, torch.int64, torch.bool], repeat=2)])
def test_a_number_of_another_dtype(self: torch.dtype, value: torch.dtype) -> None:
    def program(device: str) -> torch.Tensor:
        x = torch.arange(12).reshape(3, 4).to(device, self)
        x[MASKS[2].to(device)] = torch.tensor(2.5).to(device, value)
        return x

    assert_same(program("tpu"), program("cpu"))


def test_a_new_tensor() -> None:
    def program(device: str) -> list[torch.Tensor]:
        x, mask = torch.arange(12.0).reshape(3, 4).to(device), MASKS[2].to(device)
        return [x, *(x.index_put([mask], torch.tensor(2.5).to(there)) for there in ("cpu", device))]

    for result, expected in zip(program("tpu"), program("cpu")):
        assert_same(result, expected)


def test_values_from_itself() -> None:
    def program(device: str) -> torch.Tensor:
        x = torch.arange(24.0).reshape(3, 4, 2).to(device)
        x[MASKS[2].to(device)] = x[1, 2, 0]
        return x

    assert_same(program("tpu"), program("cpu"))


def test_a_view_with_a_gradient() -> None:
    def program(device: str) -> list[torch.Tensor]:
        x = torch.arange(48.0).reshape(2, 3, 4, 2).to(device).requires_grad_()
        new = torch.tensor([-1.0, -2.0]).to(device).requires_grad_()
        y = x * 2
        y[1][MASKS[2].to(device)] = new
        (y * y).sum().backward()
        return [y, x.grad, new.grad]

    for result, expected in zip(program("tpu"), program("cpu")):
        assert_same(result, expected)


@pytest.mark.parametrize(
    ("sizes", "value", "dtype"),
    [((3, 4), (5,), torch.float32), ((3, 4, 2), (3,), torch.float32), ((3, 4, 2), (2,), torch.int64), ((4, 3), (), None)],
)
def test_errors(sizes: tuple, value: tuple, dtype: torch.dtype | None) -> None:
    def message(device: str) -> str:
        x, mask = torch.zeros(sizes, device=device), MASKS[2].to(device)
        with pytest.raises((RuntimeError, IndexError)) as caught:
            x[mask] = torch.ones(value, dtype=dtype or torch.float32, device=device)
        return f"{type(caught.value).__name__}: {caught.value}".replace("tpu:0", "cpu").replace("tpu", "cpu")

    assert message("tpu") == message("cpu")
