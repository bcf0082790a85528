"""From a spec to the text of every generated file, or to the reasons why not."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen import manifest
from codegen.cache import Verdicts
from codegen.derive import Plan
from codegen.diagnostics import Diagnostic
from codegen.emit import measured
from codegen.emit.describe import describe
from codegen.emit.render import render
from codegen.lowerings import FAMILIES, Lowerings
from codegen.rules import Context, check
from codegen.spec import loader
from codegen.torch_schema import torch_schema


@dataclass(frozen=True)
class Project:
    """Where things are. Only the spec and the output folder can be elsewhere than in the repository."""

    root: Path
    spec: Path
    out: Path
    families: str = FAMILIES

    @property
    def is_the_repository(self) -> bool:
        return (self.spec, self.out) == (self.root / "ops.yaml", self.root / "generated")

    @staticmethod
    def at(root: Path, spec: Path | None = None, out: Path | None = None) -> Project:
        return Project(root, spec or root / "ops.yaml", out or root / "generated")


@dataclass(frozen=True)
class Result:
    """What a spec means. Without errors, `files` is the whole generated tree."""

    context: Context
    diagnostics: Sequence[Diagnostic]
    files: dict[str, str]

    @property
    def ok(self) -> bool:
        return all(diagnostic.is_warning for diagnostic in self.diagnostics)

    @property
    def plans(self) -> list[Plan]:
        return self.context.plans

    def report(self) -> str:
        source = self.context.document.source
        return "\n".join(diagnostic.render(source) for diagnostic in self.diagnostics)


def compile_spec(project: Project) -> Result:
    context = make_context(project)
    diagnostics = check(context)
    context.verdicts.save()
    result = Result(context, diagnostics, {})
    if not result.ok:
        return result
    return Result(context, diagnostics, generate(context))


def generate(context: Context) -> dict[str, str]:
    """The generated tree of a spec without errors, path by path."""
    files = render(context.plans, context.lowerings, context.document.excluded.reasons, context.coverage)
    derived = {plan.name: describe(plan, context.lowerings) for plan in context.plans}
    files[manifest.NAME] = manifest.manifest(context.document.source.text, context.generator, derived, files)
    return files


def make_context(project: Project) -> Context:
    document = loader.load(project.spec, os.path.relpath(project.spec))
    verdicts = Verdicts(project.root / ".build" / "regen-cache.json" if project.is_the_repository else None)
    generator = manifest.codegen_hash(project.root)
    recorded = project.out / measured.NAME
    coverage = recorded.read_text() if recorded.is_file() else ""
    lowerings = Lowerings(project.families)
    return Context(document, torch_schema(), lowerings, project.root / "csrc", verdicts, generator, coverage)
