"""ops.yaml as frozen dataclasses. Nothing here is derived: each value was written, or is the absence of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from codegen.diagnostics import Source, Span

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Marks:
    """Where things were written, by their path inside an entry: ("vjp", "of")."""

    keys: Mapping[Path, Span] = field(default_factory=dict)
    values: Mapping[Path, Span] = field(default_factory=dict)


@dataclass(frozen=True)
class Vjp:
    of: str
    wrt: tuple[str, ...]
    cotangent: tuple[str, ...]
    mask: str | None = None


@dataclass(frozen=True)
class Pallas:
    kernel: str
    when: str
    fallback: str
    tune: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Promote:
    kind: str
    args: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Sizes:
    key: Mapping[str, str] = field(default_factory=dict)
    data: str | None = None


@dataclass(frozen=True)
class Autocast:
    policy: str
    reason: str | None = None


@dataclass(frozen=True)
class Autograd:
    saves: tuple[str, ...]
    backward: str


@dataclass(frozen=True)
class Dtypes:
    only: tuple[str, ...]
    reason: str | None = None


@dataclass(frozen=True)
class Variants:
    excluded: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Tolerance:
    rtol: float
    atol: float | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Tests:
    opinfo: tuple[str, ...] = ()
    tol: Mapping[str, Tolerance] = field(default_factory=dict)
    skip: Mapping[str, str] = field(default_factory=dict)
    check: str = "values"
    samples: str | None = None


@dataclass(frozen=True)
class Entry:
    """One entry. `written` holds every key that stands there, `marks` where each thing stands."""

    op: str | None = None
    custom: str | None = None
    doc: str | None = None
    lowering: str | None = None
    expr: str | None = None
    vjp: Vjp | None = None
    decompose: bool = False
    pallas: Pallas | None = None
    native: Mapping[str, str] | None = None
    promote: Promote | None = None
    dims: str | None = None
    static: tuple[str, ...] = ()
    traced: tuple[str, ...] = ()
    positions: tuple[str, ...] = ()
    specialize: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    mutates: tuple[str, ...] = ()
    rng: str | None = None
    precision: str = "torch"
    meta: str = "torch"
    memory_format: tuple[str, ...] | None = None
    layouts: tuple[str, ...] = ()
    returns: tuple[str, ...] | None = None
    sizes: Sizes | None = None
    checks: tuple[str, ...] = ()
    autocast: Autocast | None = None
    autograd: Autograd | None = None
    dtypes: Dtypes | None = None
    variants: Variants | None = None
    tests: Tests = Tests()
    written: tuple[str, ...] = ()
    marks: Marks = field(default=Marks(), compare=False)
    span: Span = field(default=Span(0, 0), compare=False)

    @property
    def name(self) -> str:
        """`add.Tensor`, or `tpu::fused` for a custom op."""
        return self.op or (self.custom or "?").split("(")[0].strip()

    @property
    def line(self) -> int:
        """The line that an editor shows, counted from one."""
        return self.at().line + 1

    def at(self, *path: str | int) -> Span:
        """Where the value at `path` stands; without a path, where the entry's name stands."""
        path = path or (("op",) if self.op else ("custom",))
        while path and path not in self.marks.values:
            path = path[:-1]
        return self.marks.values.get(path, self.span)

    def key_at(self, *path: str | int) -> Span:
        return self.marks.keys.get(path, self.span)

    def describe(self) -> dict[str, Any]:
        """What was written, for hashing."""
        return {name: getattr(self, name) for name in (f.name for f in fields(self)) if name not in ("marks", "span")}


@dataclass(frozen=True)
class Misfit:
    """Something that does not have the form the field table asks for; rules/form.py turns these into diagnostics.

    kind: "syntax", "duplicate" (a key), "unknown" (a key), "missing" (keys), "word" (not one of choices) or "value".
    word: the offending text, or what is missing.
    where: what it stands in, such as "'tests' of op 'mm'".
    choices: what could have stood there; detail: what was expected, or what the parser said.
    """

    kind: str
    span: Span
    word: str
    where: str = ""
    choices: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True)
class Excluded:
    """The ops that get no entry, with the reason of each."""

    reasons: Mapping[str, str] = field(default_factory=dict)
    marks: Marks = field(default=Marks(), compare=False)

    def at(self, op: str) -> Span:
        return self.marks.keys.get((op,), Span(0, 0))


@dataclass(frozen=True)
class Document:
    source: Source
    torch: str | None = None
    torch_span: Span = Span(0, 0)
    entries: tuple[Entry, ...] = ()
    excluded: Excluded = Excluded()
    misfits: tuple[Misfit, ...] = ()
