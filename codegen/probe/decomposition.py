"""What torch's own decomposition of an op ends in, seen by running it on meta tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._C import DispatchKey
from torch._decomp import core_aten_decompositions, decomposition_table
from torch.utils._python_dispatch import TorchDispatchMode

from codegen.probe.samples import accepted, on, operator
from codegen.torch_schema import Overload, TorchSchema


def problems(overload: Overload, covered: frozenset[str], schema: TorchSchema) -> list[str]:
    """`is missing`, `is cyclic`, `raises ...` or `reaches NAME`: what keeps the decomposition from being one program.

    covered: the overloads that have a lowering of their own.
    """
    op = operator(overload)
    if op not in decomposition_table:
        return ["is missing"]
    unlisted: dict[str, None] = {}
    for arguments in accepted(overload):
        mode = _Descend(covered, schema, op)
        try:
            with mode:
                _call(decomposition_table[op], op, on("meta", arguments))
        except Exception as error:  # torch's own code, on a sample that its CPU and meta kernels took
            return ["is cyclic" if mode.cyclic else f"raises {type(error).__name__}: {error}"]
        if mode.cyclic:
            return ["is cyclic"]
        unlisted.update(mode.unlisted)
    return [f"reaches {name}" for name in unlisted]


def _call(body: Callable[..., Any], op: torch._ops.OpOverload, arguments: dict[str, Any]) -> Any:
    """By position where the schema allows it: some decompositions look at their first argument."""
    defaults = {a.name: a.default_value for a in op._schema.arguments}
    positional = [arguments.get(a.name, defaults[a.name]) for a in op._schema.arguments if not a.kwarg_only]
    names = {a.name for a in op._schema.arguments if a.kwarg_only}
    return body(*positional, **{name: value for name, value in arguments.items() if name in names})


_FACTORIES = ("empty.memory_format", "empty_strided")  # what they make is written before it is read


class _Descend(TorchDispatchMode):
    """Follows every op without an entry into what torch makes of it; remembers those that it makes nothing of."""

    def __init__(self, covered: frozenset[str], schema: TorchSchema, root: torch._ops.OpOverload) -> None:
        super().__init__()
        self.covered, self.schema = covered, schema
        self.unlisted: dict[str, None] = {}
        self.cyclic = False
        self._path = [root]
        self._table = core_aten_decompositions()  # the whole table would go on, through arithmetic itself, to prims

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.name().removeprefix("aten::")
        overload = self.schema.overloads.get(name)
        if overload is None:  # a prim, which is below what entries can be written for
            self.unlisted[name] = None
        if overload is None or overload.is_view or name in self.covered or name in _FACTORIES:
            return func(*args, **(kwargs or {}))
        if func in self._path:
            self.cyclic = True
            return func(*args, **(kwargs or {}))
        if func in self._table:
            return self._follow(func, self._table[func], args, kwargs)
        for key in (DispatchKey.CompositeImplicitAutograd, DispatchKey.CompositeExplicitAutograd):
            if func.has_kernel_for_dispatch_key(key):
                return self._follow(func, lambda *a, key=key, **k: func._op_dk(key, *a, **k), args, kwargs)
        group = self.schema.groups[name]
        self.unlisted[group.author.name] = None
        return func(*args, **(kwargs or {}))

    def _follow(self, func: Any, body: Any, args: Any, kwargs: Any) -> Any:
        self._path.append(func)
        try:
            with self:
                result = body(*args, **(kwargs or {}))
        finally:
            self._path.pop()
        return func(*args, **(kwargs or {})) if result is NotImplemented else result
