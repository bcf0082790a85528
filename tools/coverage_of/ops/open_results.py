"""What PyTorch leaves open in an operator's result, so that two right answers may differ: memory that nobody wrote, random
numbers, the order of equal elements, and what an OpInfo itself takes away (signs of eigenvectors and the like)."""

from typing import Any

import torch
from tests.ops.calls import Call
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

UNWRITTEN = ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided")
# Operators that return indices of elements, of which equal ones are interchangeable; and the place of `dim` in args.
TIES = {"sort": 0, "argsort": 0, "topk": 1, "kthvalue": 1, "median": 0, "nanmedian": 0, "mode": 0}
# Two draws of few numbers may be equal.
SEEDS = 10


class _Random(TorchDispatchMode):
    """Whether an op in it draws random numbers."""

    found = False

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        self.found = self.found or torch.Tag.nondeterministic_seeded in op.tags
        return op(*args, **(kwargs or {}))


def is_random(call: Call) -> bool:
    """Whether a call on the CPU gives other numbers from another seed."""
    with _Random() as random:
        first = _values(call.to("cpu"))
    if not random.found:
        return False
    for seed in range(SEEDS):
        torch.manual_seed(seed)
        if any(not torch.equal(*pair) for pair in zip(first, _values(call.to("cpu")), strict=True)):
            return True
    return False


def _values(call: Call) -> list[torch.Tensor]:
    return [leaf.detach().nan_to_num() for leaf in pytree.tree_leaves(call()) if isinstance(leaf, torch.Tensor)]


def without_ties(name: str, call: Call, result: Any) -> Any:
    """The result of a call of the operator `name`, with what its indices name in their place."""
    if name not in TIES or (name in ("median", "nanmedian") and isinstance(result, torch.Tensor)):
        return result
    values = call.args[0].detach().cpu()
    place = 1 + TIES[name]
    dim = call.kwargs.get("dim", call.args[place] if len(call.args) > place else -1)
    indices = result if isinstance(result, torch.Tensor) else result[1]
    kept = indices.ndim == values.ndim
    wide = (indices if kept else indices.unsqueeze(dim)).cpu()
    picked = values.gather(dim, wide)
    picked = picked if kept else picked.squeeze(dim)
    return picked if isinstance(result, torch.Tensor) else (result[0], picked)
