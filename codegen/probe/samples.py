"""Representative arguments for a schema: a few shapes and dtypes, of which torch itself takes its pick."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch

from codegen.torch_schema import Argument, Overload

SHAPES = ((2, 3), (3, 3), (3,), (2, 3, 3), (2, 3, 4, 4))
DTYPES = (torch.float32, torch.int64, torch.bfloat16, torch.bool)
DIFFERENTIABLE = (torch.float32, torch.bfloat16)
SAMPLES = {torch.float32: 2}  # of those that torch accepts; of the other dtypes one each
INDEX_NAMES = ("index", "indices", "target", "offsets")
MASK_NAMES = ("mask", "condition")


def accepted(overload: Overload, dtypes: tuple[torch.dtype, ...] = DTYPES) -> Iterator[dict[str, Any]]:
    """Arguments, by name, that both torch's CPU and its meta kernel take; none where the op needs anything special."""
    op = operator(overload)
    for dtype in dtypes:
        taken = 0
        for shape, filled in itertools.product(SHAPES, (False, True)):
            arguments = _arguments(overload, shape, dtype, filled)
            if arguments is None or not (_runs(op, arguments, "meta") and _runs(op, arguments, "cpu")):
                continue
            yield arguments
            taken += 1
            if taken == SAMPLES.get(dtype, 1):
                break


def operator(overload: Overload) -> torch._ops.OpOverload:
    base, _, name = overload.name.partition(".")
    return getattr(getattr(torch.ops.aten, base), name or "default")


def on(device: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A copy of the arguments with the tensors on `device`."""

    def move(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.clone() if device == "cpu" else value.to(device)
        return [move(item) for item in value] if isinstance(value, list) else value

    return {name: move(value) for name, value in arguments.items()}


def _runs(op: torch._ops.OpOverload, arguments: dict[str, Any], device: str) -> bool:
    try:
        op(**on(device, arguments))
    except Exception:  # whatever torch raises, it refuses the sample
        return False
    return True


def _arguments(overload: Overload, shape: tuple[int, ...], dtype: torch.dtype, filled: bool) -> dict[str, Any] | None:
    """With `filled`, optional arguments have values and numbers differ from their defaults."""
    arguments = {}
    for argument in overload.arguments:
        if (
            argument.is_out
            or argument.base in ("Generator", "Layout", "Device", "MemoryFormat")
            or argument.name == "pin_memory"
        ):
            continue
        if argument.default is not None and not (filled and argument.base in ("Tensor", "Scalar", "float")):
            continue
        value = _value(argument, shape, dtype)
        if value is None and not argument.type.endswith("?"):
            return None
        arguments[argument.name] = value
    return arguments


def _value(argument: Argument, shape: tuple[int, ...], dtype: torch.dtype) -> Any:
    listed = "[]" in argument.type
    match argument.base:
        case "Tensor":
            value: Any = _tensor(argument.name, shape, dtype)
            return [value, value.clone()] if listed else value
        case "Scalar" | "float":
            value = 0.5 if argument.base == "float" or dtype.is_floating_point else 2
            return [value, value] if listed else value
        case "int":
            if listed:
                return (
                    list(shape) if "size" in argument.name and "kernel" not in argument.name else _ints(argument.name)
                )
            return 0 if "dim" in argument.name or "index" in argument.name else 1
        case "bool":
            return [True, True, True] if listed else False
        case "ScalarType":
            return torch.float32
    return None


def _ints(name: str) -> list[int]:
    return [0] if "dim" in name else [0, 0] if "padding" in name else [1, 1]


def _tensor(name: str, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    if any(part in name for part in INDEX_NAMES):
        return torch.zeros(shape, dtype=torch.int64)
    if any(part in name for part in MASK_NAMES):
        return torch.ones(shape, dtype=torch.bool)
    return torch.ones(shape, dtype=dtype)
