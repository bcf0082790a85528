"""`autograd: {saves, backward}`: which value each argument of the backward op is, by its name."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.derive import Plan
from codegen.diagnostics import listing
from codegen.torch_schema import Argument, Overload

MASK = "output_mask"


@dataclass(frozen=True)
class Binding:
    """As torchtpu::dispatch::Binding."""

    kind: str  # Gradient, Argument, Output or Mask
    index: int = 0


@dataclass(frozen=True)
class Formula:
    """As torchtpu::dispatch::FormulaSpec. wrt: places of the forward op's arguments."""

    arguments: tuple[Binding, ...]
    wrt: tuple[int, ...]


@dataclass(frozen=True)
class Unbound(Exception):
    """path: where in the entry the reason stands."""

    path: tuple[str | int, ...]
    message: str
    help: str


def formula(plan: Plan, backward: Overload) -> Formula:
    """Raises Unbound when a name of one op means nothing in the other."""
    forward = plan.group.author
    saves = plan.entry.autograd.saves
    values = _values(forward, saves)
    for i, name in enumerate(saves):
        if name not in _savable(forward):
            message = f"'{name}' is neither a tensor argument nor an output of {plan.name}"
            raise Unbound(("autograd", "saves", i), message, f"schema: {forward.schema}")
    names = [argument.name for argument in backward.arguments]
    missing = [name for name in names if name not in values]
    if missing:
        message = f"{backward.name} needs {listing(missing)}, which the formula of '{plan.name}' does not have"
        raise Unbound(("autograd", "backward"), message, f"it has: {', '.join(values)}")
    unused = [i for i, name in enumerate(saves) if name not in names]
    if unused:
        message = f"{backward.name} does not take '{saves[unused[0]]}', which is saved for it"
        raise Unbound(("autograd", "saves", unused[0]), message, f"schema: {backward.schema}")
    return Formula(tuple(values[name] for name in names), _wrt(plan, forward, backward))


def _values(forward: Overload, saves: tuple[str, ...]) -> dict[str, Binding]:
    """Everything that a backward op can ask for, by name."""
    outputs = output_names(forward)
    values = {f"grad_{name}": Binding("Gradient", i) for i, name in enumerate(outputs)}
    for i, argument in enumerate(forward.arguments):
        if argument.base != "Tensor" or argument.name in saves:
            values[argument.name] = Binding("Argument", i)
    values |= {name: Binding("Output", i) for i, name in enumerate(outputs) if name in saves}
    return values | {MASK: Binding("Mask")}


def _savable(forward: Overload) -> list[str]:
    return [*(a.name for a in forward.arguments if a.base == "Tensor"), *output_names(forward)]


def output_names(forward: Overload) -> list[str]:
    """`output` for the only output without a name, `output0`, `output1`, ... for several."""
    several = len(forward.returns) > 1
    return [name or (f"output{i}" if several else "output") for i, name in enumerate(forward.returns)]


def _wrt(plan: Plan, forward: Overload, backward: Overload) -> tuple[int, ...]:
    places = {f"grad_{argument.name}": i for i, argument in enumerate(forward.arguments) if _is_tensor(argument)}
    for name in backward.returns:
        if name not in places:
            said = f"'{name}'" if name else "without a name"
            message = f"an output of {backward.name} {said} is not the gradient of an argument of '{plan.name}'"
            raise Unbound(("autograd", "backward"), message, f"name its outputs: {', '.join(places)}")
    return tuple(places[name] for name in backward.returns)


def _is_tensor(argument: Argument) -> bool:
    return argument.base == "Tensor"
