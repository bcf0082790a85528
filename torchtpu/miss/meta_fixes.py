"""Corrections of meta kernels that disagree with the CPU's, named by the `meta: fix:<name>` of an entry."""

from collections.abc import Callable
from typing import Any

import torch
from torch._prims_common import suggest_memory_format

from torchtpu.miss.call import Call, Use


def _layer_norm_statistics(call: Call, results: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """The CPU's mean and rstd have the dtype of the parameters, or the input's without them; meta's are float32."""
    output, *statistics = results
    values = [call.argument(name).value for name in ("weight", "bias", "input")]
    dtype = next(value.tensor.dtype for value in values if isinstance(value, Use))
    return (output, *(statistic.to(dtype) for statistic in statistics))


def _filled_out(call: Call, results: torch.Tensor) -> torch.Tensor:
    """Factories that count fill an out= of any shape, as long as it has the right number of elements."""
    for use in call.uses:
        if use.written and use.tensor.numel() == results.numel():
            results.resize_(use.view.sizes)
    return results


def _laid_out_like_self(call: Call, results: torch.Tensor) -> torch.Tensor:
    """A new result in channels-last order where self is."""
    if call.written_arguments():
        return results
    return results.contiguous(memory_format=suggest_memory_format(call.argument("self").value.tensor))


# name: (call, what torch's meta returned) -> what the CPU would.
FIXES: dict[str, Callable[[Call, Any], Any]] = {
    "filled_out": _filled_out,
    "laid_out_like_self": _laid_out_like_self,
    "layer_norm_statistics": _layer_norm_statistics,
}
