"""Which of equal elements topk and kthvalue name is open; that they name one of them is not."""

import pytest
import torch


def _tied(dtype: torch.dtype) -> torch.Tensor:
    torch.manual_seed(0)
    return torch.randint(0, 4, (6, 40)).to(dtype)


@pytest.mark.parametrize("dtype", [torch.int64, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("largest", [True, False])
def test_topk(device, dtype, largest) -> None:
    data = _tied(dtype)
    values, indices = data.to(device).topk(7, largest=largest)
    assert torch.equal(values.cpu(), data.topk(7, largest=largest).values)
    assert torch.equal(data.gather(1, indices.cpu()), values.cpu())
    assert all(len(set(row)) == 7 for row in indices.tolist()), "an element counts once"


@pytest.mark.parametrize("dtype", [torch.int64, torch.bfloat16, torch.float32])
def test_kthvalue(device, dtype) -> None:
    data = _tied(dtype)
    values, indices = data.to(device).kthvalue(9)
    assert torch.equal(values.cpu(), data.kthvalue(9).values)
    assert torch.equal(data.gather(1, indices.cpu()[:, None])[:, 0], values.cpu())
