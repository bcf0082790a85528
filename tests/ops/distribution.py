"""Random results are judged by their distribution: two correct devices draw different numbers."""

import math
from typing import Any

import torch
from torch.utils import _pytree as pytree


def distance(left: torch.Tensor, right: torch.Tensor) -> float:
    """Kolmogorov and Smirnov's: how far the shares of numbers up to some point are apart in two samples, at most."""
    left, right = (side.detach().cpu().double().flatten().sort()[0] for side in (left, right))
    shares = [torch.searchsorted(side, torch.cat([left, right]), right=True) / side.numel() for side in (left, right)]
    return (shares[0] - shares[1]).abs().max().item()


def largest_distance(left: int, right: int, probability: float = 1e-6) -> float:
    """What the distance of two samples of these sizes, drawn alike, exceeds with at most this probability."""
    return math.sqrt(math.log(2 / probability) / 2 * (left + right) / (left * right))


def assert_alike(ours: Any, theirs: Any) -> None:
    """Both look like draws from one distribution: metadata, mean and spread, and Kolmogorov-Smirnov."""
    for left, right in _pairs(ours, theirs):
        assert (left.dtype, left.shape, left.stride()) == (right.dtype, right.shape, right.stride())
        left, right = (side.detach().cpu().double().flatten() for side in (left, right))
        assert torch.isfinite(left).all()
        # Moments of what lies between the CPU's outer twentieths: a Cauchy distribution has no others.
        bounds = right.quantile(torch.tensor([0.05, 0.95], dtype=right.dtype))
        inner, reference = (side.clamp(*bounds.tolist()) for side in (left, right))
        # The difference of two means of n draws has this standard deviation; six of them happen once in 10^9 times.
        error = (inner.var() / inner.numel() + reference.var() / reference.numel()).sqrt()
        difference = (inner.mean() - reference.mean()).abs()
        assert difference <= 6 * error + 1e-12, f"mean {inner.mean()} instead of {reference.mean()}"
        torch.testing.assert_close(inner.std(), reference.std(), rtol=0.15, atol=1e-6)
        assert distance(left, right) <= largest_distance(left.numel(), right.numel())


def assert_independent(first: Any, second: Any) -> None:
    """Two draws are not the same numbers, nor the same numbers in another order of magnitude."""
    for left, right in _pairs(first, second):
        left, right = (side.detach().cpu().double().flatten() for side in (left, right))
        assert not torch.equal(left, right), "two calls drew the same numbers"
        correlation = torch.corrcoef(torch.stack([left, right]))[0, 1].abs()
        assert correlation < 0.1, f"two calls are correlated ({correlation:.3f})"


def _pairs(left: Any, right: Any) -> list[tuple[torch.Tensor, torch.Tensor]]:
    pairs = list(zip(pytree.tree_leaves(left), pytree.tree_leaves(right), strict=True))
    assert pairs
    return pairs
