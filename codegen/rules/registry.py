"""What a rule sees, and how a rule becomes one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from codegen.cache import Verdicts
from codegen.derive import Plan, derive
from codegen.diagnostics import Diagnostic, ordered
from codegen.lowerings import Lowerings
from codegen.spec.model import Document, Entry
from codegen.torch_schema import Group, TorchSchema, custom_overload


@dataclass(frozen=True)
class Context:
    """Everything that rules look at. `csrc` is where checks and native functions are declared; `verdicts` remembers
    what the expensive rules said, as long as the `generator` is the same; `coverage` is what was measured of the ops
    (see emit/measured.py)."""

    document: Document
    torch: TorchSchema
    lowerings: Lowerings
    csrc: Path
    verdicts: Verdicts = field(default_factory=Verdicts)
    generator: str = ""
    coverage: str = ""

    def group(self, entry: Entry) -> Group | None:
        """The group that the entry names the author member of, if there is one."""
        if entry.custom:
            try:
                overload = custom_overload(entry.custom)
            except Exception:  # E201 says what torchgen dislikes about the schema
                return None
            return Group(overload, (overload,))
        group = self.torch.groups.get(entry.op)
        return group if group and group.author.name == entry.op else None

    @functools.cached_property
    def known(self) -> list[tuple[Entry, Group]]:
        """The entries whose op exists, with its group."""
        found = ((entry, self.group(entry)) for entry in self.document.entries)
        return [(entry, group) for entry, group in found if group is not None]

    @functools.cached_property
    def plans(self) -> list[Plan]:
        """Of the known entries, each name once."""
        by_name: dict[str, Plan] = {}
        for entry, group in self.known:
            differentiable, autocast = self.torch.differentiable(group), self.torch.autocast.get(entry.op or "")
            by_name.setdefault(entry.name, derive(entry, group, differentiable, autocast))
        return list(by_name.values())


Finder = Callable[[Context], Iterable[Diagnostic]]


@dataclass(frozen=True)
class Rule:
    """late: runs only when all others are satisfied, since it executes the lowerings."""

    code: str
    find: Finder
    late: bool = False

    @property
    def explanation(self) -> str:
        return self.find.__doc__ or ""


RULES: dict[str, Rule] = {}


def rule(code: str, *, late: bool = False) -> Callable[[Finder], Finder]:
    def register(find: Finder) -> Finder:
        RULES[code] = Rule(code, find, late)
        return find

    return register


def check(context: Context) -> list[Diagnostic]:
    """Every finding of every rule, in order of position."""
    found = ordered(_run(context, late=False))
    if any(not diagnostic.is_warning for diagnostic in found):
        return found
    return ordered([*found, *_run(context, late=True)])


def _run(context: Context, late: bool) -> Iterator[Diagnostic]:
    for rule_ in RULES.values():
        if rule_.late == late:
            yield from rule_.find(context)
