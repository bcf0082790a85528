"""The call that missed, as the extension describes it, sorted for tracing."""

from dataclasses import dataclass
from typing import Any

import torch

from torchtpu.generated import ENTRIES
from torchtpu.miss import dtypes
from torchtpu.miss.entry import Entry
from torchtpu.miss.views import Segment, View

_MEMORY_FORMATS = (torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d)


@dataclass(frozen=True)
class Use:
    """A tensor argument on the device: number `index` of the call, over the storage first met as number `storage`.

    same: the first use that is the same tensor, if one of the two is written; else its own index.
    tensor: a meta tensor like it. What is traced may live on in caches and cycles, and must not keep device memory.
    """

    index: int
    tensor: torch.Tensor
    view: View
    storage: int
    same: int
    written: bool
    wide: bool


@dataclass(frozen=True)
class Number:
    """A traced number: its value is an operand, unless `specialized`, when it is part of the key."""

    index: int
    value: Any
    specialized: bool


@dataclass(frozen=True)
class Argument:
    """One argument of the schema. `value` holds Use and Number where the call has tensors and traced numbers.

    given: what PyTorch's own kernels take for it, but for tensors.
    """

    name: str
    type: str
    is_out: bool
    kwarg_only: bool
    value: Any
    given: Any


@dataclass(frozen=True)
class Call:
    """args: as the dispatcher has them, tensors included; emptied when the miss is over, since JAX keeps frames alive.

    key_sizes: the values of the entry's `key_sizes`, in their order.
    resized: an out= has been resized for it, so that PyTorch's CPU has been asked already, of the call as it was.
    """

    overload: str
    args: list[Any]
    op: Any
    entry: Entry
    arguments: tuple[Argument, ...]
    uses: tuple[Use, ...]
    numbers: tuple[Number, ...]
    key_sizes: tuple[int, ...]
    platform: str
    portable: bool
    stablehlo_version: str
    resized: bool = False

    def argument(self, name: str) -> Argument:
        return next(argument for argument in self.arguments if argument.name == name)

    def written_arguments(self) -> list[Argument]:
        """Those that the schema marks as written, an out= first, then those that only the entry knows of."""
        schema = {a.name for a in self.op._schema.arguments if a.alias_info is not None and a.alias_info.is_write}
        marked = [argument for argument in self.arguments if argument.name in schema]
        marked.sort(key=lambda argument: not argument.is_out)  # an out= stands for a return
        return marked + [self.argument(name) for name in self.entry.mutates if name not in schema]

    def asked_dtype(self) -> torch.dtype | None:
        """The dtype argument. Where there is one and none is given, that of an out= stands for it."""
        asked = [argument.given for argument in self.arguments if argument.name == "dtype"]
        if asked and asked[0] is not None:
            return asked[0]
        takes_dtype = any(param.name == "dtype" for param in self.entry.params)
        outs = [argument for argument in self.arguments if argument.is_out]
        return outs[0].value.tensor.dtype if takes_dtype and outs and isinstance(outs[0].value, Use) else None

    def signature(self) -> str:
        """The call in one line, for messages: shapes and dtypes in place of tensors."""
        return f"{self.overload}({', '.join(f'{a.name}={_brief(a.value)}' for a in self.arguments)})"


def find_op(overload: str, entry: str) -> Any:
    """The torch operator behind a registered overload: "add_.Tensor" is torch.ops.aten.add_.Tensor."""
    namespace = entry.split("::")[0] if "::" in entry else "aten"
    base, _, name = overload.split("::")[-1].partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), name or "default")


def parse(request: dict[str, Any]) -> Call:
    """The request of csrc/python/miss_bridge.cpp as a Call."""
    entry = ENTRIES[request["entry"]]
    op = find_op(request["overload"], request["entry"])
    uses = tuple(_use(index, use) for index, use in enumerate(request["uses"]))
    numbers = tuple(Number(i, value, special) for i, (value, special) in enumerate(request["numbers"]))
    arguments = _arguments(op, entry, request["args"], iter(uses), iter(numbers))
    return Call(
        overload=request["overload"],
        args=request["args"],
        op=op,
        entry=entry,
        arguments=arguments,
        uses=uses,
        numbers=numbers,
        key_sizes=tuple(request["key_sizes"]),
        platform=request["platform"],
        portable=request["portable"],
        stablehlo_version=request["stablehlo_version"],
        resized=request["resized"],
    )


def given_arguments(op: Any, entry: str, args: list[Any]) -> list[tuple[bool, str, Any]]:
    """(keyword only, name, value) of every argument in the form that torch.ops takes."""
    types = {param.name: param.type for param in ENTRIES[entry].params}
    return [
        (schema.kwarg_only, schema.name, _given(schema.name, types.get(python_name(schema.name), ""), value))
        for schema, value in zip(op._schema.arguments, args)
    ]


def _arguments(op, entry, args, uses, numbers) -> tuple[Argument, ...]:
    params = {param.name: param for param in entry.params}
    result = []
    for schema, value in zip(op._schema.arguments, args):
        param = params.get(python_name(schema.name))
        kind = param.type if param else str(schema.type)
        traced = param.traced if param else False
        result.append(
            Argument(
                name=schema.name,
                type=kind,
                is_out=schema.is_out,
                kwarg_only=schema.kwarg_only,
                value=_sort(value, traced, uses, numbers) if "Generator" not in kind else None,
                given=_given(schema.name, kind, _without_device_tensors(value)),
            )
        )
    return tuple(result)


def _sort(value, traced, uses, numbers):
    """Takes tensors and traced numbers in the order in which csrc/dispatch/call.cpp numbered them."""
    if isinstance(value, list):
        return [_sort(item, traced, uses, numbers) for item in value]
    if isinstance(value, torch.Tensor):
        return next(uses) if value.device.type == "tpu" else next(numbers)
    if traced and value is not None:
        return next(numbers)
    return value


def _use(index: int, use: dict[str, Any]) -> Use:
    tensor = use["tensor"]
    segments = use["segments"]
    view = View(
        sizes=tuple(tensor.shape),
        strides=tensor.stride(),
        dtype=dtypes.to_numpy(tensor.dtype),
        base_sizes=use["base_sizes"],
        held=dtypes.in_memory(tensor.dtype),
        base_dtype=dtypes.in_memory(use["base_dtype"]),
        whole=use["whole"],
        segments=segments and tuple(Segment(size, extent, step, None if dim < 0 else dim) for size, extent, step, dim in segments),
        conj=tensor.is_conj(),
        neg=tensor.is_neg(),
    )
    like = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
    return Use(index, like, view, use["storage"], use["same"], use["written"], use["wide"])


def _without_device_tensors(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_device_tensors(item) for item in value]
    return None if isinstance(value, torch.Tensor) and value.device.type == "tpu" else value


def _given(name: str, kind: str, value: Any) -> Any:
    """Enumerations, which the dispatcher hands over as numbers, as torch's Python objects."""
    if value is None:
        return None
    if kind.startswith("ScalarType") or name == "dtype":
        return dtypes.from_number(value)
    if name == "memory_format":
        return _MEMORY_FORMATS[value]
    return torch.strided if name == "layout" else value


def python_name(name: str) -> str:
    return name + "_" if name in ("from", "lambda", "is", "in", "global") else name


def _brief(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_brief, value))}]"
    if isinstance(value, Use):
        return f"{str(value.tensor.dtype).removeprefix('torch.')}{list(value.tensor.shape)}"
    return repr(value.value) if isinstance(value, Number) else repr(value)
