"""Storages that PyTorch makes of a data_ptr(), and what else libraries do with a device behind its back."""

import io
import pickle

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.dlpack import from_dlpack, to_dlpack


def test_pickle(device) -> None:
    tensor = torch.arange(6.0).reshape(2, 3)
    copy = pickle.loads(pickle.dumps(tensor.to(device)))
    assert copy.device.type == device and torch.equal(copy.cpu(), tensor)


def test_legacy_serialization(device) -> None:
    tensor, file = torch.arange(6).to(device), io.BytesIO()
    torch.save(tensor, file, _use_new_zipfile_serialization=False)
    file.seek(0)
    assert torch.equal(torch.load(file, map_location="cpu"), torch.arange(6))


def test_dlpack_round_trip_aliases(device) -> None:
    tensor = torch.zeros(3, device=device)
    alias = from_dlpack(to_dlpack(tensor))
    alias.add_(1)
    assert tensor.tolist() == alias.tolist() == [1, 1, 1]


def test_checkpoint_draws_the_same_numbers_again(device) -> None:
    x = torch.ones(64, device=device, requires_grad=True)
    y = checkpoint(lambda z: F.dropout(z, 0.5) * z, x, use_reentrant=False)
    y.sum().backward()
    assert torch.equal((x.grad == 0).cpu(), (y == 0).cpu())
    assert 0 < (y == 0).sum() < 64


def test_double_backward_of_losses(device) -> None:
    for loss in (F.mse_loss, F.smooth_l1_loss, F.huber_loss):
        second = []
        for where in (device, "cpu"):
            x = torch.linspace(-2, 2, 6).to(where).requires_grad_()
            (first,) = torch.autograd.grad(loss(x, torch.zeros(6, device=where)) ** 2, x, create_graph=True)
            second.append(torch.autograd.grad(first.sum(), x)[0].cpu())
        torch.testing.assert_close(*second)


def test_integers_beyond_int64(device) -> None:
    for fill in (lambda t: t.fill_(2**63), lambda t: t + 2**63, lambda t: torch.add(t, t, alpha=2**63)):
        ours, theirs = fill(torch.ones(2, device=device)), fill(torch.ones(2))
        assert torch.equal(ours.cpu(), theirs)
