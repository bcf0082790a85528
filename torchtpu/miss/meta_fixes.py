"""Corrections of meta kernels that disagree with the CPU's, named by the `meta: fix:<name>` of an entry."""

from collections.abc import Callable
from typing import Any

import torch

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


def _typed_like_the_last_operand(call: Call, results: torch.Tensor) -> torch.Tensor:
    """Where there is nothing to multiply, kernels take batches of two dtypes, and the new result has the second one's."""
    if call.written_arguments():
        return results
    return results.to([use.tensor.dtype for use in call.uses][-1])


# name: (call, what torch's meta returned) -> what the CPU would.
FIXES: dict[str, Callable[[Call, Any], Any]] = {
    "filled_out": _filled_out,
    "layer_norm_statistics": _layer_norm_statistics,
    "typed_like_the_last_operand": _typed_like_the_last_operand,
}
