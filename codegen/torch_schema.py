"""What torch says about its operators. The only door to torchgen; nothing of torch itself is imported."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import torchgen
import yaml
from torchgen.gen import get_grouped_native_functions, parse_native_yaml
from torchgen.model import (
    BaseTy,
    BaseType,
    DispatchKey,
    FunctionSchema,
    ListType,
    NativeFunction,
    NativeFunctionsGroup,
    OptionalType,
    Type,
)

from codegen.autocast_lists import aten_policies

_PYTHON_KEYWORDS = frozenset({"from", "lambda", "in", "is", "not", "and", "or", "if", "else", "for", "global", "pass"})


@dataclass(frozen=True)
class Argument:
    """type: "Tensor", "Tensor?", "Tensor[]", "Scalar", "int[]", "ScalarType?", ...: without sizes of lists and Sym."""

    name: str
    type: str
    written: bool
    is_out: bool
    default: str | None

    @property
    def base(self) -> str:
        return re.sub(r"[\[\]?]", "", self.type)

    @property
    def python_name(self) -> str:
        return self.name + "_" if self.name in _PYTHON_KEYWORDS else self.name


@dataclass(frozen=True)
class Overload:
    """kind: functional, inplace, mutable or out, as torchgen sees it."""

    name: str
    schema: str
    arguments: tuple[Argument, ...]
    returns: tuple[str | None, ...]  # names, where the schema gives them
    return_types: tuple[str, ...]
    kind: str
    tags: frozenset[str]
    composite_implicit: bool
    composite_explicit: bool
    structured: bool
    is_view: bool
    on_cpu: bool = False  # torch's CPU has a kernel for it

    @property
    def base(self) -> str:
        return self.name.split(".")[0]

    @property
    def generated(self) -> bool:
        return "generated" in self.tags


@dataclass(frozen=True)
class Group:
    """A functional op with its in-place and out= variants. `author` is the member that an entry names."""

    author: Overload
    members: tuple[Overload, ...]

    @property
    def tags(self) -> frozenset[str]:
        return frozenset().union(*(member.tags for member in self.members))

    @property
    def needs_kernel(self) -> bool:
        """Whether a backend has to do something: torch composes the others from these."""
        return not (self.author.composite_implicit or self.author.composite_explicit)

    @property
    def on_cpu(self) -> bool:
        """Whether torch's CPU computes it by a kernel. Views compute nothing."""
        return any(member.on_cpu for member in self.members) and not self.author.is_view


@dataclass(frozen=True)
class TorchSchema:
    """overloads and groups are by overload name: `add.Tensor`; formulas by the overload that they differentiate;
    autocast as codegen/autocast_lists.py has it."""

    version: str
    overloads: Mapping[str, Overload]
    groups: Mapping[str, Group]
    formulas: Mapping[str, str]
    autocast: Mapping[str, str]

    @property
    def release(self) -> str:
        return ".".join(self.version.split(".")[:2])

    def named(self, base: str) -> list[Group]:
        """The groups whose author member has this base name, each once."""
        return [self.groups[name] for name in self.authors(base)]

    def authors(self, base: str) -> list[str]:
        return [n for n, g in self.groups.items() if g.author.name == n and n.split(".")[0] == base]

    def differentiable(self, group: Group) -> bool:
        return any(member.name in self.formulas for member in group.members)

    def derivative_calls(self, group: Group) -> list[str]:
        """Base names of the ops that the group's derivative formulas call, in order."""
        text = " ".join(self.formulas.get(member.name, "") for member in group.members)
        called = (name.removesuffix("_symint") for name in re.findall(r"(?<![\w.])([a-z_]\w*)\(", text))
        return [name for name in dict.fromkeys(called) if name in self._bases]

    @functools.cached_property
    def _bases(self) -> frozenset[str]:
        return frozenset(name.split(".")[0] for name in self.overloads)


@functools.cache
def torch_schema() -> TorchSchema:
    packaged = Path(torchgen.__file__).parent / "packaged"
    native = packaged / "ATen" / "native"
    parsed = parse_native_yaml(str(native / "native_functions.yaml"), str(native / "tags.yaml"))
    on_cpu = {str(name) for name in parsed.backend_indices[DispatchKey.CPU].index}
    overloads: dict[str, Overload] = {}
    groups: dict[str, Group] = {}
    for grouped in get_grouped_native_functions(parsed.native_functions):
        members = list(grouped.functions()) if isinstance(grouped, NativeFunctionsGroup) else [grouped]
        described = tuple(_overload(function, on_cpu) for function in members)
        group = Group(_author(described), described)
        for member in described:
            overloads[member.name], groups[member.name] = member, group
    return TorchSchema(installed_version(), overloads, groups, _formulas(packaged), aten_policies())


def installed_version() -> str:
    return metadata.version("torch").split("+")[0]


def custom_overload(text: str) -> Overload:
    """The overload that a `custom: tpu::name(...) -> ...` entry declares. Raises what torchgen raises."""
    namespace, _, schema = text.partition("::")
    if namespace != "tpu" or not schema:
        raise ValueError("a custom op's schema starts with 'tpu::'")
    parsed = FunctionSchema.parse(schema)
    return Overload(f"tpu::{parsed.name}", schema, *_signature(parsed), frozenset(), False, False, False, False)


def _author(members: tuple[Overload, ...]) -> Overload:
    """The functional member unless torchgen made it up, as for `uniform_`; then the one that a person wrote."""
    written = [member for member in members if not member.generated]
    order = ("functional", "inplace", "mutable", "out")
    return min(written or members, key=lambda member: order.index(member.kind))


def _overload(function: NativeFunction, on_cpu: set[str]) -> Overload:
    return Overload(
        str(function.func.name),
        str(function.func),
        *_signature(function.func),
        frozenset(function.tags),
        function.has_composite_implicit_autograd_kernel,
        function.has_composite_explicit_autograd_kernel
        or function.has_composite_explicit_autograd_non_functional_kernel,
        function.structured or function.structured_delegate is not None,
        function.is_view_op,
        str(function.func.name) in on_cpu,
    )


def _signature(schema: FunctionSchema):
    arguments = []
    out = {argument.name for argument in schema.arguments.out}
    for a in schema.arguments.flat_all:
        written = a.annotation is not None and a.annotation.is_write
        arguments.append(Argument(a.name, _type(a.type), written, a.name in out, a.default))
    returns = tuple(r.name for r in schema.returns)
    return tuple(arguments), returns, tuple(_type(r.type) for r in schema.returns), schema.kind().name


def _type(type_: Type) -> str:
    if isinstance(type_, OptionalType):
        return _type(type_.elem) + "?"
    if isinstance(type_, ListType):
        return _type(type_.elem) + "[]"
    if isinstance(type_, BaseType) and type_.name is BaseTy.SymInt:
        return "int"
    return str(type_)


def _formulas(packaged: Path) -> dict[str, str]:
    """By overload: derivatives.yaml, read as data, since torchgen's loader wants autograd's whole model."""
    text = (packaged / "autograd" / "derivatives.yaml").read_text()
    formulas = {}
    for item in yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        rows = item.get("dispatch", {}).get("Default", {}) if "dispatch" in item else item
        parts = [str(value) for key, value in rows.items() if key not in _NOT_FORMULAS]
        parts = [part for part in parts if not part.startswith(("non_differentiable", "not_implemented"))]
        if parts:
            formulas[item["name"].split("(")[0]] = "; ".join(parts)
    return formulas


_NOT_FORMULAS = ("name", "dispatch", "result", "output_differentiability")
