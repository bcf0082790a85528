"""Everything that follows from an entry and torch's schemas: variants, key plan, lowering call, test plan. No I/O."""

from __future__ import annotations

import enum
import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass

from codegen.spec.fields import DTYPE_SETS, DTYPES
from codegen.spec.model import Entry
from codegen.torch_schema import Argument, Group, Overload

NUMBERS = ("Scalar", "float")
WITHOUT_EFFECT = ("Layout", "Device")  # by type; they cannot change a program
WITHOUT_EFFECT_NAMES = ("pin_memory", "non_blocking")
NOT_LOWERED = ("Generator", "Layout", "Device", "MemoryFormat")  # the lowering never sees these
SHARDS = 4


class Role(enum.Enum):
    """As torchtpu::dispatch::Role."""

    READ = "Read"
    WRITE = "Write"
    TRACED = "Traced"
    STATIC = "Static"
    GENERATOR = "Generator"
    IGNORED = "Ignored"


@dataclass(frozen=True)
class ArgPlan:
    argument: Argument
    role: Role
    specialize: tuple[float, ...] = ()


@dataclass(frozen=True)
class Registration:
    overload: Overload
    arguments: tuple[ArgPlan, ...]


@dataclass(frozen=True)
class TestPlan:
    """Which of the harness's tests apply, and with what."""

    names: tuple[str, ...]
    opinfo: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """One entry, worked out. `arguments` are the author member's, as the lowering receives them."""

    entry: Entry
    group: Group
    registrations: tuple[Registration, ...]
    native: tuple[tuple[Overload, str], ...]
    arguments: tuple[ArgPlan, ...]
    promote: str
    promoted: tuple[str, ...]
    dtypes: tuple[str, ...] | None  # torch's names of those that the device takes, None for all
    autocast: str | None  # the policy, whoever says so; None for an op that autocast leaves alone
    tests: TestPlan

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def python_name(self) -> str:
        return self.name.replace("::", "_").replace(".", "_")

    @property
    def test_name(self) -> str:
        return (
            "Test"
            + ("_" if self.python_name.startswith("_") else "")
            + "".join(part[:1].upper() + part[1:] for part in self.python_name.split("_"))
            + ("_" if self.python_name.endswith("_") else "")
        )

    @property
    def shard(self) -> int:
        return int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:4], "big") % SHARDS

    @property
    def key_sizes(self) -> tuple[str, ...]:
        return tuple(self.entry.sizes.key) if self.entry.sizes else ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the lowering's parameters."""
        key = (self.rng_key,) if self.rng_key else ()
        return (*key, *(plan.argument.python_name for plan in self.arguments), *self.key_sizes, *self.layouts)

    @property
    def layouts(self) -> tuple[str, ...]:
        """The parameters that say how an argument lies in memory."""
        return tuple(f"{name}_is_contiguous" for name in self.entry.layouts)

    @property
    def rng_key(self) -> str | None:
        """The parameter that receives the random key: `key`, unless the schema has an argument of that name."""
        if not self.entry.rng:
            return None
        return "rng_key" if any(plan.argument.name == "key" for plan in self.arguments) else "key"

    @property
    def has_wrapper(self) -> bool:
        return bool(self.entry.lowering or self.entry.expr or self.entry.vjp or self.entry.pallas)


def derive(entry: Entry, group: Group, differentiable: bool = False, autocast: str | None = None) -> Plan:
    """`differentiable`: torch has a derivative formula for a member of the group; `autocast`: ATen's own policy."""
    excluded = entry.variants.excluded if entry.variants else ()
    members = tuple(member for member in group.members if member.name not in excluded)
    if entry.autograd:  # torch composes the other members, whose gradients it then knows
        members, differentiable = (group.author,), True
    native = _native(entry, group, members)
    registrations = () if native else tuple(_registration(entry, member) for member in members)
    arguments = tuple(
        ArgPlan(argument, _role(entry, argument), _specialize(entry, argument))
        for argument in group.author.arguments
        if not _hidden(argument)
    )
    promote = entry.promote.kind if entry.promote else "default" if "pointwise" in group.tags else "none"
    named = entry.promote.args if entry.promote else None
    promoted = named if named is not None else _promoted(arguments)
    return Plan(
        entry,
        group,
        registrations,
        native,
        arguments,
        promote,
        () if promote == "none" else tuple(promoted),
        _dtypes(entry),
        entry.autocast.policy if entry.autocast else autocast,
        TestPlan(_test_names(entry, group, members, differentiable), entry.tests.opinfo),
    )


def lowered_arguments(overload: Overload) -> tuple[Argument, ...]:
    """The arguments that a lowering of this overload receives."""
    return tuple(argument for argument in overload.arguments if not _hidden(argument))


def _hidden(argument: Argument) -> bool:
    return argument.is_out or argument.base in NOT_LOWERED or argument.name == "pin_memory"


def _native(entry: Entry, group: Group, members: Iterable[Overload]) -> tuple[tuple[Overload, str], ...]:
    if not entry.native:
        return ()
    if "" in entry.native:
        return ((group.author, entry.native[""]),)
    return tuple((member, entry.native[member.name]) for member in members if member.name in entry.native)


def _registration(entry: Entry, overload: Overload) -> Registration:
    plans = tuple(ArgPlan(a, _role(entry, a), _specialize(entry, a)) for a in overload.arguments)
    return Registration(overload, plans)


def _role(entry: Entry, argument: Argument) -> Role:
    if argument.base == "Tensor":
        return Role.WRITE if argument.written or argument.name in entry.mutates else Role.READ
    if argument.base == "Generator":
        return Role.GENERATOR
    if argument.name in entry.traced or argument.name in entry.positions:
        return Role.TRACED
    if argument.base in WITHOUT_EFFECT or argument.name in WITHOUT_EFFECT_NAMES:
        return Role.IGNORED
    # A decomposition is Python that branches on its numbers.
    static = argument.name in entry.static or entry.decompose
    return Role.TRACED if argument.base in NUMBERS and not static else Role.STATIC


def _specialize(entry: Entry, argument: Argument) -> tuple[float, ...]:
    if _role(entry, argument) is not Role.TRACED:
        return ()
    default = _number(argument.default)
    return tuple(dict.fromkeys((*(() if default is None else (default,)), *entry.specialize.get(argument.name, ()))))


def _number(default: str | None) -> float | None:
    try:
        value = float(default) if default is not None else math.nan
    except ValueError:
        return None  # None, True, Mean, long, ...
    return None if math.isnan(value) else int(value) if value.is_integer() else value


def _promoted(arguments: tuple[ArgPlan, ...]) -> tuple[str, ...]:
    return tuple(
        plan.argument.name
        for plan in arguments
        if plan.argument.base == "Tensor" or (plan.argument.base == "Scalar" and plan.role is Role.TRACED)
    )


def _dtypes(entry: Entry) -> tuple[str, ...] | None:
    if entry.dtypes is None:
        return None
    wanted = {dtype for word in entry.dtypes.only for dtype in DTYPE_SETS.get(word, (word,))}
    return tuple(name for dtype, name in DTYPES.items() if dtype in wanted)


def _test_names(entry: Entry, group: Group, members: tuple[Overload, ...], differentiable: bool) -> tuple[str, ...]:
    """As tests/ops/harness.py decides it; its test of wrong inputs depends on the OpInfo, so it is not among these."""
    if entry.native or entry.custom:  # the runtime's own, and what torch's CPU does not have: tested by hand
        return ()
    checks = ("checks",) if entry.checks else ()
    if entry.tests.check == "distribution":
        return ("distribution", "calls_differ", "seed_repeats", *checks)
    names = ["values", "second_call_hits", "lowering_ran"]
    if any(argument.base == "Tensor" for argument in group.author.arguments):
        names += ["noncontiguous", "zero_size"]
    names += ["out"] if any(argument.is_out for member in members for argument in member.arguments) else []
    names += ["inplace"] if any(member.base.endswith("_") for member in members) else []
    names += ["kernel"] if entry.pallas else []
    names += ["backward"] if differentiable and "backward" not in entry.name else []
    return (*names, *checks)
