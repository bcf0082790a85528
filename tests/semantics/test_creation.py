"""Values of factory functions."""

import pytest
import torch

from tests.compare import assert_same


@pytest.mark.parametrize("dtype", [torch.int8, torch.int64, torch.float64])
@pytest.mark.parametrize(("start", "end", "steps"), [(2, 100, 50), (100, 2, 50), (-100, 30, 7), (0, 3, 1)])
def test_linspace_steps_as_the_cpu_does(device, dtype, start, end, steps) -> None:
    """An integer is cut off, so the last bit of the step shows."""
    expected = torch.linspace(start, end, steps, dtype=dtype)
    assert torch.equal(torch.linspace(start, end, steps, dtype=dtype, device=device).cpu(), expected)


@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.int64, torch.float16, torch.float32, torch.float64, torch.complex128]
)
@pytest.mark.parametrize(
    ("start", "end", "steps", "base"),
    [(0, 2, 3, 10), (2, 0, 3, 10), (0, 7, 8, 2), (0, 4.5, 6, 3), (1, 4, 0, 2), (0.3, 3, 1, 10), (1, 2.7, 7, 2.1)],
)
def test_logspace_as_the_cpu_does(device, dtype, start, end, steps, base) -> None:
    """An integer is cut off, so the last bit of a power shows, and more than one step has integers for bounds."""
    expected = torch.logspace(start, end, steps, base, dtype=dtype)
    actual = torch.logspace(start, end, steps, base, dtype=dtype, device=device)
    assert_same(actual, expected)
    assert_same(torch.logspace(start, end, steps, base, out=torch.ones(steps, dtype=dtype, device=device)), expected)


def test_logspace_of_tensors_and_without_a_dtype(device) -> None:
    def program(device: str) -> list:
        one, two = torch.tensor(1.0, device=device), torch.tensor(2, device=device)
        bounds = [(one, two), (1, two), (two, 3), (0, 1), (1j, 2)]
        return [torch.logspace(start, end, 4, device=device) for start, end in bounds]

    assert_same(program(device), program("cpu"))


@pytest.mark.parametrize(
    ("start", "end", "step"),
    [(0, 100 * 1449629115440469, 1449629115440469), (0, 2**62 + 1, 2**60), (2**62, 0, -(2**59)), (0, 2**53 + 1, 2**52)],
)
def test_arange_counts_integers_exactly(device, start, end, step) -> None:
    assert_same(torch.arange(start, end, step, device=device), torch.arange(start, end, step))


@pytest.mark.parametrize("step", [0.1, 0.3, 1e-3])
def test_arange_counts_floats_as_the_cpu_does(device, step) -> None:
    for count in range(1, 40):
        made = torch.arange(0, count * step, step, device=device)
        assert made.numel() == torch.arange(0, count * step, step).numel()


def test_cat_takes_empty_vectors_for_anything(device) -> None:
    def program(device: str) -> list[torch.Tensor]:
        empty, full = torch.ones(0, device=device), torch.ones(2, 3, device=device)
        return [torch.cat([empty, empty], dim=1), torch.cat([empty, full], dim=1), torch.cat([full, empty], dim=-2)]

    assert_same(program(device), program("cpu"))
