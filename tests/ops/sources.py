"""Where the calls that test an entry come from: its own samples, PyTorch's OpInfos, or its schema."""

import functools
import itertools
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torchgen
import yaml
from torch.testing import make_tensor
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo
from torch.utils import _pytree as pytree

from tests.compare import Failure, outcome
from tests.ops import samples
from tests.ops.calls import Call, Gradients, Recorder, name_of, overload, rebind

# OpInfo yields hundreds of samples for some ops; the first ones show what there is.
_MOST_SAMPLES = 60


@functools.cache
def _opinfos() -> dict[str, list[OpInfo]]:
    """By full name ("max.binary"), by name ("max"), and by ATen name."""
    index = defaultdict(list)
    for info in op_db:
        for key in {info.name, info.aten_name, _full_name(info)}:
            index[key].append(info)
    return index


def _full_name(info: OpInfo) -> str:
    return f"{info.name}.{info.variant_test_name}"


def opinfos(entry: str, names: tuple[str, ...]) -> list[OpInfo]:
    """The OpInfos called `names`; without names, those that PyTorch or tests.ops.samples knows for the entry."""
    base = entry.partition(".")[0]
    plain = base.removesuffix("_").removesuffix("_backward")
    wanted = names or samples.OPINFOS.get(base) or (base, plain, f"nn.functional.{plain}")
    unknown = [name for name in names if name not in _opinfos()]
    assert not unknown, f"{entry}: no OpInfo is called {', '.join(unknown)}"
    found = itertools.chain.from_iterable(_opinfos().get(name, ()) for name in dict.fromkeys(wanted))
    return list({id(info): info for info in found}.values())


def from_opinfos(
    infos: list[OpInfo], entry: str, overloads: tuple[str, ...], dtype: torch.dtype, seed: int
) -> list[Call]:
    """The calls of the entry's overloads that the OpInfos' samples make on the CPU, as calls of `entry`."""
    recorder = Recorder((entry, *overloads, *samples.STAND_INS.get(entry, ())))
    for call in functions(infos, entry, dtype, seed):
        with recorder:
            call()
    author = overload(entry)
    seen = [call if call.op is author else rebind(author, call.by_name()) for call in recorder.calls]
    return [call for call in seen if call]


def functions(infos: list[OpInfo], entry: str, dtype: torch.dtype, seed: int) -> list[Call]:
    """The OpInfos' samples as calls of PyTorch's function, or of its gradient where the entry is a backward."""
    torch.manual_seed(seed)
    backward, calls = "backward" in entry, []
    for info in infos:
        if dtype in (info.supported_backward_dtypes("cpu") if backward else info.supported_dtypes("cpu")):
            for sample in itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=backward), _MOST_SAMPLES):
                if not sample.kwargs.get("dropout_p"):  # two devices drop different elements
                    calls.append(Call(info.op, (sample.input, *sample.args), sample.kwargs))
    for function, args in samples.functions(entry, dtype):
        calls.append(Call(function, args, {}).map(lambda tensor: tensor.requires_grad_(backward)))
    return [(_gradients(call) if backward else call).map(lambda tensor: tensor.detach()) for call in calls]


def _gradients(call: Call) -> Call:
    leaves = tuple(index for index, tensor in enumerate(call.tensors()) if tensor.requires_grad)
    return Call(Gradients(call.op, leaves), call.args, call.kwargs)


@functools.cache
def _error_calls(full_name: str) -> list[tuple[Call, str]]:
    """An OpInfo's wrong inputs that the CPU refuses, with the overload that refuses ("": none was reached)."""
    info = _opinfos()[full_name][0]
    if not info.error_inputs_func:
        return []
    torch.manual_seed(0)
    found = []
    for error in info.error_inputs("cpu"):
        call = Call(info.op, (error.sample_input.input, *error.sample_input.args), error.sample_input.kwargs)
        if any(tensor.is_meta or tensor.layout != torch.strided for tensor in call.tensors()):
            continue
        ours = call.to("cpu")
        with Recorder(names=None) as recorder:
            failed = isinstance(outcome(ours), Failure)
        if failed:
            found.append((call, name_of(recorder.calls[-1].op) if recorder.calls else ""))
    return found


def errors(infos: list[OpInfo], entry: str, overloads: tuple[str, ...]) -> list[Call]:
    """The wrong inputs of the OpInfos that a call of this entry refuses."""
    refusing = {entry, *overloads}
    return [call for info in infos for call, name in _error_calls(_full_name(info)) if name in refusing]


def from_samples(name: str, entry: str, dtype: torch.dtype, seed: int) -> list[Call]:
    """The calls that the function `name` in tests/ops/samples.py knows for the entry."""
    torch.manual_seed(seed)
    return _accepted([Call(overload(entry), args, kwargs) for args, kwargs in getattr(samples, name)(entry, dtype)])


def _accepted(calls: list[Call]) -> list[Call]:
    """Those that the CPU does not refuse, such as division of integers in place."""
    return [call for call in calls if not isinstance(outcome(call.to("cpu")), Failure)]


def from_schema(entry: str, dtype: torch.dtype, seed: int) -> list[Call]:
    """Calls with tensors of like shapes and plain numbers; none when the schema needs more, or the CPU refuses."""
    torch.manual_seed(seed)
    op = overload(entry)
    return _accepted([call for shape in ((3, 4), (5,), (2, 1, 3)) for call in _derived(op, shape, dtype)])


def _derived(op: torch._ops.OpOverload, shape: tuple[int, ...], dtype: torch.dtype) -> Iterator[Call]:
    tensor = functools.partial(make_tensor, device="cpu", dtype=dtype, low=1, high=5)
    number = 0.5 if dtype.is_floating_point else 2
    lists = any("List[Tensor]" in str(argument.type) for argument in op._schema.arguments)
    make = {
        "Tensor": lambda: tensor(() if lists else shape),
        "List[Tensor]": lambda: [tensor(shape), tensor((3,)), tensor((2, 2))],
        "number": lambda: number,
        "Optional[number]": lambda: number,
        "float": lambda: 0.5,
        "int": lambda: 0,
        "List[number]": lambda: [number, 2, 1.5],
        "List[float]": lambda: [0.5, 2.0, 1.5],
    }
    for fill_defaults in (False, True):
        arguments = {}
        for argument in op._schema.arguments:
            kind = str(argument.type)
            optional = argument.has_default_value() and not (fill_defaults and "number" in kind)
            if not optional and kind in make:
                arguments[argument.name] = make[kind]()
        call = rebind(op, arguments)
        if call:
            yield call


@functools.cache
def _formulas() -> dict[str, frozenset[str]]:
    """For each overload that autograd knows, the arguments that it has derivatives with respect to."""
    path = Path(torchgen.__file__).parent / "packaged/autograd/derivatives.yaml"
    found = {}
    for row in yaml.load(path.read_text(), Loader=yaml.CSafeLoader):
        name = row.pop("name").partition("(")[0]
        differentiated = [
            arguments
            for arguments, formula in row.items()
            if isinstance(formula, str) and not formula.startswith(("non_differentiable", "not_implemented"))
        ]
        found[name] = frozenset(name.strip() for arguments in differentiated for name in arguments.split(","))
    return found


def functional(entry: str, overloads: tuple[str, ...]) -> str | None:
    """The member of the entry's group that writes nothing."""
    return next((name for name in (entry, *overloads) if not overload(name)._schema.is_mutable), None)


def differentiated(name: str | None) -> frozenset[str]:
    """The arguments of an overload that autograd differentiates. A backward's backward is left to other tests."""
    if name is None or "backward" in name:
        return frozenset()
    names = {argument.name for argument in overload(name)._schema.arguments}
    return _formulas().get(name, frozenset()) & names


def gradient_call(call: Call, arguments: frozenset[str]) -> Call:
    """The call of the gradients with respect to the floating and complex tensors among `arguments`."""
    if not isinstance(call.op, torch._ops.OpOverload):
        chosen = call.tensors()
    else:
        named = {name: value for name, value in call.by_name().items() if name in arguments}
        chosen = [leaf for leaf in pytree.tree_leaves(named) if isinstance(leaf, torch.Tensor)]
    ids = {id(tensor) for tensor in chosen if tensor.is_floating_point() or tensor.is_complex()}
    wrt = tuple(index for index, tensor in enumerate(call.tensors()) if id(tensor) in ids)
    return Call(Gradients(call.op, wrt), call.args, call.kwargs)


def out_overloads(overloads: tuple[str, ...]) -> list[str]:
    return [name for name in overloads if _has_out(name)]


def inplace_overloads(overloads: tuple[str, ...]) -> list[str]:
    return [name for name in overloads if _writes_self(name) and not _has_out(name)]


def _writes_self(name: str) -> bool:
    """Not only, say, its running statistics."""
    first = overload(name)._schema.arguments[0]
    return first.alias_info is not None and first.alias_info.is_write


def _has_out(name: str) -> bool:
    return any(argument.is_out for argument in overload(name)._schema.arguments)
