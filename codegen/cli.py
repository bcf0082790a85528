"""The command line of tools/regen."""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path

from codegen import manifest, scaffold
from codegen.diagnostics import did_you_mean
from codegen.emit import writer
from codegen.emit.describe import describe, summary
from codegen.lowerings import NotFound
from codegen.pipeline import Project, Result, compile_spec, make_context
from codegen.rules import RULES

SHOWN_OF_A_DIFF = 40
DESCRIPTION = """\
Makes generated/ from ops.yaml: validates, writes what changed, deletes what is stale, builds.

  tools/regen                     the usual run
  tools/regen --check             write nothing; exit 1 and show the difference if generated/ is not up to date
  tools/regen new aten::erfinv    print an entry for an op, ready to paste (--append: put it into ops.yaml)
  tools/regen show add.Tensor     print everything that is derived from one entry
  tools/regen explain E304        print the long form of a rule
"""


def main(root: Path, build: Callable[[], None], arguments: list[str] | None = None) -> int:
    """`build` compiles what was generated."""
    options = _parser().parse_args(arguments)
    project = Project.at(root, options.spec, options.out)
    if not project.spec.is_file():
        _complain(f"{os.path.relpath(project.spec)}: no such file")
        return 1
    match options.command:
        case "new":
            return scaffold.command(project, options.op, options.append)
        case "show":
            return show(project, options.op)
        case "explain":
            return explain(options.rule)
    status = check(project) if options.check else write(project)
    if status == 0 and project.is_the_repository and not (options.check or options.no_build):
        build()
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "tools/regen", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if generated/ would change")
    parser.add_argument("--no-build", action="store_true", help="do not compile")
    parser.add_argument("--spec", type=Path, metavar="FILE", help="another ops.yaml")
    parser.add_argument("--out", type=Path, metavar="DIR", help="another generated/")
    commands = parser.add_subparsers(dest="command", metavar="")
    new = commands.add_parser("new", help="print an entry for an op")
    new.add_argument("op", help="such as aten::erfinv, or erfinv")
    new.add_argument("--append", action="store_true", help="append it to the spec")
    commands.add_parser("show", help="print what is derived from an entry").add_argument("op")
    commands.add_parser("explain", help="print the long form of a rule").add_argument("rule")
    return parser


def write(project: Project) -> int:
    result = _compiled(project)
    if result is None:
        return 1
    before = _entries_before(project)
    touched = writer.write_tree(project.out, result.files)
    for line in _changes(result, before):
        print(line)
    print(f"{_entries(result)}; {_count(len(touched), 'file') + ' changed' if touched else 'up to date'}")
    return 0


def check(project: Project) -> int:
    result = _compiled(project)
    if result is None:
        return 1
    diffs = writer.diff(project.out, result.files)
    for text in diffs:
        lines = text.splitlines()
        print("\n".join(lines[:SHOWN_OF_A_DIFF]))
        if len(lines) > SHOWN_OF_A_DIFF:
            print(f"... and {_count(len(lines) - SHOWN_OF_A_DIFF, 'more line')}")
    if diffs:
        differ = f"{_count(len(diffs), 'file')} differ{'s' * (len(diffs) == 1)}"
        _complain(f"{project.out.name}/ is not what {project.spec.name} gives ({differ}); run: tools/regen")
        return 1
    print(f"{_entries(result)}; {project.out.name}/ is up to date")
    return 0


def _compiled(project: Project) -> Result | None:
    """Prints what the rules find; None if there are errors among it."""
    result = compile_spec(project)
    if result.diagnostics:
        _complain(result.report())
    if result.ok:
        return result
    errors = _count(sum(not diagnostic.is_warning for diagnostic in result.diagnostics), "error")
    _complain(f"{errors} in {_entries(result)}; nothing was written")
    return None


def _complain(text: str) -> None:
    print(text, file=sys.stderr)


def _entries(result: Result) -> str:
    number = len(result.context.document.entries)
    return f"{number} {'entry' if number == 1 else 'entries'}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _entries_before(project: Project) -> dict[str, str]:
    file = project.out / manifest.NAME
    return manifest.entries(file.read_text()) if file.is_file() else {}


def _changes(result: Result, before: dict[str, str]) -> list[str]:
    """A line for each entry that is new, changed or gone."""
    after = manifest.entries(result.files[manifest.NAME])
    lines = [summary(plan) for plan in result.plans if before.get(plan.name) != after[plan.name]]
    return lines + [f"{name}: gone" for name in before if name not in after]


def show(project: Project, name: str) -> int:
    context = make_context(project)
    name = name.removeprefix("aten::")
    group = context.torch.groups.get(name)
    author = group.author.name if group else name
    plan = next((plan for plan in context.plans if plan.name == author), None)
    if plan is None:
        guess = did_you_mean(name, [plan.name for plan in context.plans])
        advice = "" if guess or not group else f"; add one with: tools/regen new {author}"
        _complain(f"{project.spec.name} has no entry for '{name}'{guess}{advice}")
        return 1
    try:
        print(describe(plan, context.lowerings))
    except NotFound as error:
        _complain(f"{plan.name}: {error}")
        return 1
    return 0


def explain(code: str) -> int:
    rule = RULES.get(code.upper())
    if rule is None:
        _complain(
            f"there is no rule '{code}'{did_you_mean(code.upper(), RULES)}; the rules: {', '.join(sorted(RULES))}"
        )
        return 1
    print(f"{rule.code}: {inspect.cleandoc(rule.explanation)}")
    return 0
