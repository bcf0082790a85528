"""Nested tensors of PyTorch's first kind, which are no layout of the device's own."""

import pytest
import torch

from tests.compare import assert_same
from tests.device import DEVICE


def _parts() -> list[torch.Tensor]:
    return [torch.arange(6.0).reshape(2, 3), torch.arange(8.0).reshape(2, 4)]


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_of_tensors_that_require_grad() -> None:
    """Autograd asks for its sizes where an error would end the process."""
    parts = [part.to(DEVICE).requires_grad_() for part in _parts()]
    nested = torch.nested.as_nested_tensor(parts)
    doubled = (nested * 2).unbind()
    assert_same(list(doubled), [part * 2 for part in _parts()])
    sum(part.sum() for part in doubled).backward()
    assert_same([part.grad for part in parts], [torch.full_like(part, 2) for part in _parts()])


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_what_has_no_kernel_says_so() -> None:
    nested = torch.nested.nested_tensor([part.to("tpu") for part in _parts()])
    with pytest.raises(NotImplementedError, match="torchtpu: aten::cumsum of nested tensors"):
        nested.cumsum(0)
