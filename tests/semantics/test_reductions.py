"""Which dims a reduction takes."""

import pytest
import torch


@pytest.mark.parametrize("op", [torch.all, torch.any])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [None, [], [0], [-1, 0]])
def test_dims_of_all_and_any(device, op, keepdim, dim) -> None:
    """No dims mean all of them, an empty list none: unlike for sum, where both mean all."""
    x = torch.tensor([[2.0, 0.0], [0.0, 0.0]])
    expected = op(x, dim, keepdim)
    assert torch.equal(op(x.to(device), dim, keepdim).cpu(), expected)
