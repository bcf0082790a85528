"""Corrections of meta kernels that disagree with the CPU's, named by the `meta: fix:<name>` of an entry."""

from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

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


def _by_columns(call: Call, results: Any) -> Any:
    """LAPACK's matrices lie column by column in memory; meta has some of them row by row."""
    if call.written_arguments():
        return results
    ndim = call.uses[0].tensor.ndim
    return pytree.tree_map(lambda result: result.mT.contiguous().mT if result.ndim == ndim else result, results)


def _geqrf(call: Call) -> tuple[torch.Tensor, torch.Tensor]:
    matrix = call.uses[0].tensor
    if matrix.ndim < 2:
        raise NotImplementedError("the CPU refuses")
    tau = torch.empty((*matrix.shape[:-2], min(matrix.shape[-2:])), dtype=matrix.dtype, device="meta")
    return torch.empty_like(matrix.mT, memory_format=torch.contiguous_format).mT, tau


def _fourier(call: Call, results: torch.Tensor) -> torch.Tensor:
    """MKL leaves the transformed dimensions innermost; meta does what CUDA's library does."""
    if call.written_arguments() or not torch.backends.mkl.is_available():
        return results
    tensor, dims = call.uses[0].tensor, tuple(call.argument("dim").value)
    sizes, strides = tuple(results.shape), tensor.stride()
    if not dims:
        return results
    if "c2c" in call.overload:
        strides = _transformed(sizes, strides, _sorted(dims, strides))
    elif "r2c" in call.overload:
        strides = _transformed(sizes, strides, [*_sorted(dims[:-1], strides), dims[-1]])
    else:
        if len(dims) > 1:
            strides = _transformed(tuple(tensor.shape), strides, _sorted(dims[:-1], strides))
        strides = _transformed(sizes, strides, [dims[-1]])
    return torch.empty_strided(sizes, strides, dtype=results.dtype, device="meta")


def _sorted(dims: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    return sorted(dims, key=lambda dim: -strides[dim])


def _transformed(sizes: tuple[int, ...], strides: tuple[int, ...], dims: list[int]) -> tuple[int, ...]:
    """The strides of a result whose dimensions are the others in their old order, then `dims`."""
    dims = [dim % len(sizes) for dim in dims]
    order = [*_sorted(tuple(dim for dim in range(len(sizes)) if dim not in dims), strides), *dims]
    dense = torch.empty([sizes[dim] for dim in order], device="meta").stride()
    return tuple(dense[order.index(dim)] for dim in range(len(sizes)))


# name: (call, what torch's meta returned) -> what the CPU would.
def _is_empty(call: Call) -> bool:
    """MKL refuses to transform no element."""
    return not call.uses[0].tensor.numel() and torch.backends.mkl.is_available()


def _mask_has_strides(call: Call) -> bool:
    """An is_target= that fits is written row by row, or refused."""
    masks = [argument.value.tensor for argument in call.arguments if argument.name == "is_target"]
    sizes = call.argument("target").value.tensor.shape
    return any(mask.shape == sizes and not mask.is_contiguous() for mask in masks)


FIXES: dict[str, Callable[[Call, Any], Any]] = {
    "by_columns": _by_columns,
    "filled_out": _filled_out,
    "fourier": _fourier,
    "layer_norm_statistics": _layer_norm_statistics,
    "typed_like_the_last_operand": _typed_like_the_last_operand,
}

# name: (call) -> whether the CPU has something to say that torch's meta does not.
REFUSED: dict[str, Callable[[Call], bool]] = {
    "fourier": _is_empty,
    "contiguous_mask": _mask_has_strides,
}

# name: (call) -> what torch's meta would return, if it had a kernel for the op.
MADE: dict[str, Callable[[Call], tuple]] = {
    "geqrf": _geqrf,
}
