"""What libraries do with a device behind its back."""

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


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
