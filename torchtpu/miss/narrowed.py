"""`dtypes:` of an entry: a call whose dtypes lie outside of the set is left to the CPU."""

from collections.abc import Iterator
from typing import Any

import torch

from torchtpu.miss import dtypes, meta
from torchtpu.miss.call import Call, Number, Use, python_name


class OutsideDtypes(Exception):
    """What the entry does not take, and its reason."""


def check(call: Call) -> None:
    """Raises OutsideDtypes if the entry leaves the call to the CPU."""
    takes = call.entry.dtypes
    if takes is None:
        return
    for dtype in _judged(call):
        name = str(dtype).removeprefix("torch.")
        if name not in takes:
            said = f"the entry of {call.entry.name} takes {', '.join(takes)}, not {name}"
            raise OutsideDtypes(f"{said}: {call.entry.dtypes_reason}")


def _judged(call: Call) -> Iterator[torch.dtype]:
    """The dtypes that the call computes in.

    An entry that promotes computes in what PyTorch promotes its arguments to, whatever each of them has: float32 beside
    int64 is float32, float32 beside 1j is complex64. Any other is judged by its first tensor argument. Of the tensors
    that remain those of floats count as well; integers and bools there are indices, masks or classes. An out= is only
    cast to.
    """
    promoted: list[Use | Number] = []
    others: list[list[torch.dtype]] = []  # by argument
    for argument in call.arguments:
        operands = [] if argument.is_out else list(_operands(argument.value))
        if python_name(argument.name) in call.entry.promoted:
            promoted += operands
        elif found := [operand.tensor.dtype for operand in operands if isinstance(operand, Use)]:
            others.append(found)
    promotes = any(isinstance(operand, Use) for operand in promoted)
    asked = call.asked_dtype()
    if asked is not None:
        yield asked
    elif promotes:
        values = [operand.tensor if isinstance(operand, Use) else operand.value for operand in promoted]
        yield dtypes.promotion("default", values, None)[1]
    elif not others:
        yield from _made(call)
    if others and not promotes:
        yield from others.pop(0)
    yield from (dtype for found in others for dtype in found if dtype.is_floating_point or dtype.is_complex)


def _operands(value: Any) -> Iterator[Use | Number]:
    if isinstance(value, list):
        for item in value:
            yield from _operands(item)
    elif isinstance(value, (Use, Number)):
        yield value


def _made(call: Call) -> Iterator[torch.dtype]:
    """What a factory makes that is not told."""
    try:
        yield meta.run(call).results[0].dtype
    except meta.NoMeta:
        return
