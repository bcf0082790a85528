"""PyTorch's own word on a call: the metadata of its results, and its errors (design D8)."""

import warnings
from dataclasses import dataclass
from typing import Any

import torch

from torchtpu.miss.call import Argument, Call, Number, Use, find_op, given_arguments
from torchtpu.miss.meta_fixes import FIXES, MADE, REFUSED


@dataclass(frozen=True)
class Meta:
    """results: per return of the schema a meta tensor, a list of them, None, or a number.

    resized: per use of a written argument the sizes and strides that PyTorch gave it, where the sizes changed.
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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about resizing an out=: the runtime warns when it does
            results = call.op(*positional, **keyword)
    except NotImplementedError as error:
        made = MADE.get(call.entry.meta.removeprefix("fix:"))
        if made is None or call.written_arguments():
            raise NoMeta from error
        ask_the_cpu(call)
        return Meta(made(call), {})
    except Exception as error:
        if look_at_cpu(call.overload, call.entry.name, call.args):
            raise NoMeta from error  # meta kernels have errors of their own
        raise
    _ask_the_cpu_about(call, stand_ins, positional, keyword, results)
    if call.entry.meta.startswith("fix:"):
        results = FIXES.get(call.entry.meta.removeprefix("fix:"), lambda call, results: results)(call, results)
    returns = call.op._schema.returns
    results = () if not returns else (results,) if len(returns) == 1 else tuple(results)
    resized = {}
    for use in call.uses:
        after = stand_ins[use.index]
        if use.written and tuple(after.shape) != use.view.sizes:
            resized[use.index] = (tuple(after.shape), after.stride())
    if resized and call.entry.structured:
        _lay_out(call, positional, keyword, resized)
    return Meta(results, resized)


def _lay_out(call: Call, positional: list[Any], keyword: dict[str, Any], resized: dict[int, tuple]) -> None:
    """An out= that a structured kernel resizes gets the strides of the new tensor that it would return: meta forgets them."""
    outs = [argument.value for argument in call.arguments if argument.is_out]
    results = _without_out(call, positional, keyword)
    for use, result in zip(outs, results if isinstance(results, (tuple, list)) else [results]):
        if isinstance(use, Use) and use.index in resized and resized[use.index][0] == tuple(result.shape):
            resized[use.index] = (tuple(result.shape), result.stride())


def _without_out(call: Call, positional: list[Any], keyword: dict[str, Any]) -> Any:
    """What the author member returns on meta for the arguments of an out= form; () where it does not take them."""
    author = find_op(call.entry.name, call.entry.name)
    names = {argument.name for argument in author._schema.arguments}
    plain = {a.name: keyword[a.name] for a in call.arguments if a.kwarg_only and a.name in names}
    if "device" in names:  # a factory, which an out= tells where to be; by default it would compute on the CPU
        plain.setdefault("device", torch.device("meta"))
    try:
        return author(*positional, **plain)
    except Exception:
        return ()


def _ask_the_cpu_about(
    call: Call, stand_ins: dict[int, torch.Tensor], positional: list[Any], keyword: dict[str, Any], results: Any
) -> None:
    """Raises PyTorch's error where meta kernels check too little.

    That is an in-place result that does not fit, a written tensor that is read under another name too, an out= of another dtype.
    """
    if call.resized:
        return
    grown = any(
        use.written and tuple(stand_ins[use.index].shape) != use.view.sizes
        for argument in call.arguments
        if not argument.is_out
        for use in (argument.value if isinstance(argument.value, list) else [argument.value])
        if isinstance(use, Use)
    )
    storages = [use.storage for use in call.uses]
    shared = any(use.written and storages.count(use.storage) > 1 for use in call.uses)
    unusual = _is_unusual(call) or _makes_unusual(call, results)
    refused = REFUSED.get(call.entry.meta.removeprefix("fix:"), lambda call: False)
    if grown or shared or unusual or refused(call) or _writes_another_dtype(call, positional, keyword):
        look_at_cpu(call.overload, call.entry.name, call.args)


_SMALL = 1 << 16  # elements: so many are copied and computed on the CPU in less time than a compile takes


_COMPLEX = (torch.complex32, torch.complex64, torch.complex128)


def _is_unusual(call: Call) -> bool:
    """Dtypes that not every kernel takes, or takes together; asked of small tensors only.

    Not those that the entry says are taken: more than the CPU's, it may be.
    """
    used = {use.tensor.dtype for use in call.uses}
    if call.entry.dtypes is not None:
        used = {dtype for dtype in used if str(dtype).removeprefix("torch.") not in call.entry.dtypes}
    values = [n.value.dtype if isinstance(n.value, torch.Tensor) else type(n.value) for n in call.numbers]
    used |= {dtype for dtype in values if dtype in (bool, complex, torch.bool, *_COMPLEX)}
    plain = used <= ({torch.float32} if call.entry.promote == "none" else {torch.float32, torch.int64})
    return not plain and sum(use.tensor.numel() for use in call.uses) <= _SMALL


def _makes_unusual(call: Call, results: Any) -> bool:
    """The same of a dtype that is asked for."""
    asked = call.asked_dtype()
    if asked in (None, torch.float32, torch.int64) or not isinstance(results, torch.Tensor):
        return False
    return results.numel() + sum(use.tensor.numel() for use in call.uses) <= _SMALL


def _writes_another_dtype(call: Call, positional: list[Any], keyword: dict[str, Any]) -> bool:
    """True when an out= has another dtype than the result would have without it, or an in-place result cannot be cast."""
    written = [a for a in call.written_arguments() if isinstance(a.value, Use)]
    author = find_op(call.entry.name, call.entry.name)
    if not written or any(argument.alias_info for argument in author._schema.arguments):
        return False
    results = _without_out(call, positional, keyword)
    results = results if isinstance(results, (tuple, list)) else (results,)
    return any(
        result.dtype != argument.value.tensor.dtype
        and (argument.is_out or not torch.can_cast(result.dtype, argument.value.tensor.dtype))
        for result, argument in zip(results, written)
        if isinstance(result, torch.Tensor)
    )


def ask_the_cpu(call: Call) -> None:
    """Raises PyTorch's error for a call that meta kernels say nothing of, where one is likely.

    Not for the device's own ops: the copies that a look at the CPU makes are among them.
    """
    own = "::" in call.entry.name
    if not own and not call.resized and (_is_unusual(call) or any(argument.is_out for argument in call.arguments)):
        look_at_cpu(call.overload, call.entry.name, call.args)


def look_at_cpu(overload: str, entry: str, args: list[Any]) -> bool:
    """Runs the call on CPU copies of its arguments, for the exception that it raises there.

    Returns True if there is none, False if the CPU has no kernel for the op.
    """
    return _run_on_cpu(overload, entry, args) is not None


def grows_on_cpu(call: Call, written: Argument, sizes: tuple[int, ...]) -> bool:
    """Whether an in-place op resizes a tensor: PyTorch's CPU takes it for addbmm_, of which meta knows nothing."""
    after = _run_on_cpu(call.overload, call.entry.name, call.args) if isinstance(written.value, Use) else None
    return after is not None and tuple(after[written.name].shape) == tuple(sizes)


def _run_on_cpu(overload: str, entry: str, args: list[Any]) -> dict[str, Any] | None:
    """The copies of the arguments after the call, by name; None if the CPU has no kernel for the op.

    It leaves no traces: the CPU's random numbers stay where they are.
    """
    op = find_op(overload, entry)
    if "overrideable" in overload or not torch._C._dispatch_has_computed_kernel_for_dispatch_key(op.name(), "CPU"):
        return None  # an op that PyTorch leaves to devices
    memory = _CpuCopies()
    arguments = [(kwarg_only, name, memory.of(value)) for kwarg_only, name, value in given_arguments(op, entry, args)]
    positional = [value for kwarg_only, _, value in arguments if not kwarg_only]
    keyword = {name: value for kwarg_only, name, value in arguments if kwarg_only}
    # What is drawn for the sake of an exception leaves the numbers that the CPU draws next as they are.
    if any(argument.name == "generator" and argument.kwarg_only for argument in op._schema.arguments):
        keyword["generator"] = torch.Generator()
    with torch.random.fork_rng(devices=[], enabled=_is_random(op) and "generator" not in keyword):
        op(*positional, **keyword)
    return {name: value for _, name, value in arguments}


def _is_random(op: torch._ops.OpOverload) -> bool:
    """Whether one of the overloads of an op is tagged so: not all of them are."""
    overloads = (getattr(op.overloadpacket, name) for name in op.overloadpacket.overloads())
    return any(torch.Tag.nondeterministic_seeded in overload.tags for overload in overloads)


def _on_meta(argument: Argument, value: Any, given: Any, stand_ins: dict[int, torch.Tensor]) -> Any:
    if isinstance(value, list):
        return [_on_meta(argument, item, original, stand_ins) for item, original in zip(value, given)]
    if isinstance(value, Use):
        tensor = value.tensor
        meta = stand_ins.get(value.same)
        if meta is None:
            meta = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
        stand_ins[value.index] = meta
        return meta
    if isinstance(value, Number):
        return value.value if not isinstance(given, torch.Tensor) else given
    return torch.device("meta") if argument.name == "device" else given


class _CpuCopies:
    """Copies that are the same, alias, overlap and are strided as the arguments are: some of PyTorch's errors are about that."""

    def __init__(self) -> None:
        self._storages: dict[int, torch.Tensor] = {}
        self._tensors: dict[int, torch.Tensor] = {}

    def of(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [self.of(item) for item in value]
        if isinstance(value, torch.device):
            return torch.device("cpu")
        if isinstance(value, torch.Generator):
            return torch.Generator()
        if not isinstance(value, torch.Tensor) or value.device.type == "cpu":
            return value
        if id(value) not in self._tensors:
            self._tensors[id(value)] = self._copy(value)
        return self._tensors[id(value)]

    def _copy(self, value: torch.Tensor) -> torch.Tensor:
        memory = self._memory(value)
        if memory.dtype != value.dtype:
            memory = memory.view(torch.uint8)
            memory = memory[: len(memory) // value.itemsize * value.itemsize].view(value.dtype)
        copy = torch.as_strided(memory, value.shape, value.stride(), value.storage_offset())
        copy = torch._conj(copy) if value.is_conj() else copy
        return torch._neg_view(copy) if value.is_neg() else copy

    def _memory(self, tensor: torch.Tensor) -> torch.Tensor:
        """The storage of `tensor` on the CPU, as one dimension of elements of the dtype that it was first met with."""
        storage = tensor.untyped_storage()
        if storage._cdata not in self._storages:
            length = storage.nbytes() // tensor.itemsize
            bits = tensor._conj() if tensor.is_conj() else tensor
            bits = torch._neg_view(bits) if bits.is_neg() else bits
            memory = torch.as_strided(bits, (length,), (1,), 0).cpu()
            if storage.nbytes() % tensor.itemsize:  # grown for elements of another size
                memory = torch.cat([memory.view(torch.uint8), torch.zeros(storage.nbytes() % tensor.itemsize).to(torch.uint8)])
            self._storages[storage._cdata] = memory
        return self._storages[storage._cdata]
