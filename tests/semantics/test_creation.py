"""Values of factory functions."""

import pytest
import torch


@pytest.mark.parametrize("dtype", [torch.int8, torch.int64, torch.float64])
@pytest.mark.parametrize(("start", "end", "steps"), [(2, 100, 50), (100, 2, 50), (-100, 30, 7), (0, 3, 1)])
def test_linspace_steps_as_the_cpu_does(device, dtype, start, end, steps) -> None:
    """An integer is cut off, so the last bit of the step shows."""
    expected = torch.linspace(start, end, steps, dtype=dtype)
    assert torch.equal(torch.linspace(start, end, steps, dtype=dtype, device=device).cpu(), expected)
