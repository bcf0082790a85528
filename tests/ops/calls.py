"""Calls of ATen overloads with concrete arguments, and how to change them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from tests.device import DEVICE


def overload(name: str) -> torch._ops.OpOverload:
    """The overload that ops.yaml calls "add.Tensor" or "relu"."""
    base, _, suffix = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), suffix or "default")


def name_of(op: torch._ops.OpOverload) -> str:
    """The inverse of `overload`."""
    name, suffix = op._schema.name.removeprefix("aten::"), op._schema.overload_name
    return f"{name}.{suffix}" if suffix else name


@dataclasses.dataclass(frozen=True)
class Call:
    """One call. `op` is an ATen overload or a function such as torch.nn.functional.conv2d."""

    op: Callable
    args: tuple
    kwargs: dict[str, Any]

    def __call__(self) -> Any:
        return self.op(*self.args, **self.kwargs)

    def map(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Call:
        """The same call with `change` applied to every tensor, once to one that appears twice."""
        done: dict[int, torch.Tensor] = {}

        def once(tensor: torch.Tensor) -> torch.Tensor:
            if id(tensor) not in done:
                done[id(tensor)] = change(tensor)
            return done[id(tensor)]

        args, kwargs = pytree.tree_map_only(torch.Tensor, once, (self.args, self.kwargs))
        return Call(self.op, args, kwargs)

    def to(self, device: str) -> Call:
        """A copy of the call on `device`: of its tensors and of the device that a factory function is asked for."""
        moved = self.map(lambda tensor: tensor.detach().clone().to(device))
        args, kwargs = pytree.tree_map_only(torch.device, lambda _: torch.device(device), (moved.args, moved.kwargs))
        if "device" in kwargs:
            kwargs["device"] = torch.device(device)
        return Call(self.op, args, kwargs)

    def both(self) -> tuple[Call, Call]:
        """The call on the device under test, and on the CPU."""
        return self.to(DEVICE), self.to("cpu")

    def tensors(self) -> list[torch.Tensor]:
        return [leaf for leaf in pytree.tree_leaves((self.args, self.kwargs)) if isinstance(leaf, torch.Tensor)]

    def by_name(self) -> dict[str, Any]:
        """The arguments under their names in the schema of `op`, an overload."""
        names = [argument.name for argument in self.op._schema.arguments]
        return dict(zip(names, self.args)) | self.kwargs

    def signature(self) -> tuple:
        """What may be in a cache key: everything but the values of tensors and of traced numbers."""
        traced = set()
        if isinstance(self.op, torch._ops.OpOverload):
            kinds = {argument.name: str(argument.type) for argument in self.op._schema.arguments}
            traced = {
                name for name, kind in kinds.items() if any(word in kind for word in ("Tensor", "number", "float"))
            }
            arguments = self.by_name()
        else:
            arguments = dict(enumerate(self.args)) | self.kwargs
        return tuple((name, _describe(value, name in traced)) for name, value in arguments.items())


def _describe(value: Any, traced: bool) -> str:
    """The value without what a program does not depend on."""

    def describe(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return (leaf.dtype, tuple(leaf.shape), leaf.stride())
        return type(leaf) if isinstance(leaf, (float, complex)) or traced else repr(leaf)

    leaves, spec = pytree.tree_flatten(value)
    return f"{spec} {list(map(describe, leaves))}"


def rebind(op: torch._ops.OpOverload, arguments: dict[str, Any]) -> Call | None:
    """A call of `op` with those of `arguments` that it knows; None when it needs others as well."""
    args, kwargs = [], {}
    for argument in op._schema.arguments:
        known = argument.name in arguments
        if not known and not argument.has_default_value():
            return None
        if argument.kwarg_only:
            kwargs |= {argument.name: arguments[argument.name]} if known else {}
        else:
            args.append(arguments[argument.name] if known else argument.default_value)
    return Call(op, tuple(args), kwargs)


@dataclasses.dataclass(frozen=True)
class Gradients:
    """`op` as a function that returns its gradients with respect to some of its tensors, given by their positions.

    With `twice`, the gradients of these gradients.
    """

    op: Callable
    wrt: tuple[int, ...]
    twice: bool = False

    def __call__(self, *args: Any, **kwargs: Any) -> list[torch.Tensor | None]:
        call = Call(self.op, args, kwargs)
        chosen = {id(tensor) for index, tensor in enumerate(call.tensors()) if index in self.wrt}
        leaves: list[torch.Tensor] = []

        def leaf(tensor: torch.Tensor) -> torch.Tensor:
            if id(tensor) not in chosen:
                return tensor
            leaves.append(tensor.detach().requires_grad_())
            return leaves[-1]

        results = pytree.tree_leaves(call.map(leaf)())
        gradients = _gradients(results, leaves, create_graph=self.twice)
        return _gradients(gradients, leaves) if self.twice else gradients


def _gradients(results: list, leaves: list[torch.Tensor], create_graph: bool = False) -> list[torch.Tensor | None]:
    results = [out for out in results if isinstance(out, torch.Tensor) and out.requires_grad]
    if not results:
        return []
    cotangents = [_cotangent(out) for out in results]
    return list(torch.autograd.grad(results, leaves, cotangents, create_graph=create_graph, allow_unused=True))


def _cotangent(output: torch.Tensor) -> torch.Tensor:
    """Numbers of the output's shape, the same on every device."""
    values = torch.linspace(-1, 1, output.numel(), device="cpu").reshape(output.shape)
    return values.to(output.dtype).to(output.device)


class Recorder(TorchDispatchMode):
    """Records the calls of the named overloads (None: of all) that programs on the CPU make, with their arguments."""

    def __init__(self, names: tuple[str, ...] | None):
        super().__init__()
        self.names = None if names is None else frozenset(names)
        self.calls: list[Call] = []

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.names is None or name_of(op) in self.names:
            self.calls.append(Call(op, args, kwargs).map(lambda tensor: tensor.detach().clone()))
        return op(*args, **kwargs)


def spread(calls: list[Call], count: int) -> Iterator[Call]:
    """At most `count` of them, evenly spread, one of each signature, none of them empty or large."""
    usual = {call.signature(): call for call in calls if _usual(call)}
    chosen = list(usual.values())
    step = max(len(chosen) / count, 1)
    for index in range(min(count, len(chosen))):
        yield chosen[int(index * step)]


def _usual(call: Call) -> bool:
    sizes = [tensor.numel() for tensor in call.tensors()]
    return all(size > 0 for size in sizes) and sum(sizes) <= 50_000
