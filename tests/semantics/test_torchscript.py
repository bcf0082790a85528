"""TorchScript's interpreter calls the same kernels, with lists of other types."""

import torch

from tests.compare import assert_same
from tests.device import DEVICE


def _read(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    return x[:, i] + x[i, i] + x[i]


def _write(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    x[:, i] = 5.0
    x[i] = x[i] * 2
    return x


def test_indices(device: str = DEVICE) -> None:
    x, i = torch.arange(9.0).reshape(3, 3), torch.tensor([0, 2, 1])
    for function in (_read, _write):
        scripted = torch.jit.script(function)
        for _ in range(3):  # the profiling interpreter, then what it has optimised
            assert_same(scripted(x.to(device, copy=True), i.to(device)), function(x.clone(), i))
