"""PyTorch's own word on a call: the metadata of its results, and its errors (design D8)."""

from dataclasses import dataclass
from typing import Any

import torch

from torchtpu.miss.call import Argument, Call, Number, Use, find_op, given_arguments


@dataclass(frozen=True)
class Meta:
    """results: per return of the schema a meta tensor, a list of them, None, or a number.

    resized: per use of a written argument the sizes and strides that PyTorch gave it, where they changed.
    """

    results: tuple[Any, ...]
    resized: dict[int, tuple[tuple[int, ...], tuple[int, ...]]]


class NoMeta(Exception):
    """torch has no meta kernel for the call."""


def run(call: Call) -> Meta:
    """Runs the overload on meta tensors. Raises NoMeta, or whatever PyTorch's CPU kernels raise for these arguments."""
    stand_ins: dict[int, torch.Tensor] = {}
    positional, keyword = [], {}
    for argument in call.arguments:
        value = _on_meta(argument, argument.value, argument.given, stand_ins)
        if argument.kwarg_only:
            keyword[argument.name] = value
        else:
            positional.append(value)
    try:
        results = call.op(*positional, **keyword)
    except NotImplementedError as error:
        raise NoMeta from error
    except Exception as error:
        look_at_cpu(call.overload, call.entry.name, [argument.given for argument in call.arguments], raw=False)
        raise error
    returns = call.op._schema.returns
    results = () if not returns else (results,) if len(returns) == 1 else tuple(results)
    resized = {}
    for use in call.uses:
        after = stand_ins[use.index]
        if use.written and tuple(after.shape) != use.view.sizes:
            resized[use.index] = (tuple(after.shape), after.stride())
    return Meta(results, resized)


def look_at_cpu(overload: str, entry: str, args: list[Any], raw: bool = True) -> None:
    """Runs the call on CPU copies of its arguments, for the exception that it raises there; returns if there is none.

    raw: dtypes and memory formats are still the dispatcher's numbers.
    """
    op = find_op(overload, entry)
    if raw:
        arguments = given_arguments(op, entry, args)
    else:
        arguments = [(schema.kwarg_only, schema.name, value) for schema, value in zip(op._schema.arguments, args)]
    positional = [_on_cpu(value) for kwarg_only, _, value in arguments if not kwarg_only]
    keyword = {name: _on_cpu(value) for kwarg_only, name, value in arguments if kwarg_only}
    op(*positional, **keyword)


def _on_meta(argument: Argument, value: Any, given: Any, stand_ins: dict[int, torch.Tensor]) -> Any:
    if isinstance(value, list):
        return [_on_meta(argument, item, original, stand_ins) for item, original in zip(value, given)]
    if isinstance(value, Use):
        tensor = value.tensor
        meta = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
        stand_ins[value.index] = meta
        return meta
    if isinstance(value, Number):
        return value.value if not isinstance(given, torch.Tensor) else given
    return torch.device("meta") if argument.type.startswith("Device") else given


def _on_cpu(value: Any) -> Any:
    if isinstance(value, list):
        return [_on_cpu(item) for item in value]
    if isinstance(value, torch.Tensor):
        values = value.cpu()
        if value.numel() == 0 or 0 in value.stride():
            return values
        # As strided as the original: some of PyTorch's errors are about strides.
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype).copy_(values)
    if isinstance(value, torch.device):
        return torch.device("cpu")
    return value
