"""Renders every generated file from the plans."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path

import jinja2

from codegen.derive import Plan
from codegen.emit import contexts
from codegen.lowerings import Lowerings
from codegen.spec import fields

TEMPLATES = Path(__file__).parent.parent / "templates"


def render(plans: Sequence[Plan], lowerings: Lowerings) -> dict[str, str]:
    """The generated tree, path by path, in the order of the entries' names so that moving an entry changes nothing."""
    plans = sorted(plans, key=lambda plan: plan.name)
    files = {}
    for shard in contexts.SHARD_NUMBERS:
        files[f"csrc/ops_{shard}.cpp"] = _fill("ops.cpp", **contexts.cpp_shard(plans, shard, "aten", lowerings))
        files[f"tests/test_ops_{shard}.py"] = _fill("test_ops.py", **contexts.test_module(plans, shard))
        custom = contexts.cpp_shard(plans, shard, "tpu", lowerings)
        if custom["entries"]:
            files[f"csrc/custom_{shard}.cpp"] = _fill("ops.cpp", **custom)
    files["csrc/register_native.cpp"] = _fill("register_native.cpp", **contexts.native_table(plans))
    files["lowerings/ops.py"] = _fill("ops.py", with_entries=True, **contexts.lowering_module(plans, lowerings))
    files["lowerings/__init__.py"] = _fill("lowerings_init.py")
    rows = contexts.ops_table(plans)
    registered = sum(len(plan.registrations) + len(plan.native) for plan in plans)
    files["OPS.md"] = _fill("OPS.md", rows=rows, registered=registered, reference=fields.reference())
    files["ops.schema.json"] = json.dumps(fields.json_schema(), indent=2) + "\n"
    return dict(sorted(files.items()))


def wrappers_source(plans: Sequence[Plan], lowerings: Lowerings) -> str:
    """The wrappers alone, for rules that run them before anything is written."""
    return _fill("ops.py", with_entries=False, **contexts.lowering_module(list(plans), lowerings))


def _fill(template: str, **context: object) -> str:
    return _environment().get_template(f"{template}.jinja").render(context)


WIDTH = 120


def wrap(text: str, indent: int, room: int = 0) -> str:
    """Breaks a line of code after commas, in the outermost brackets that will do, so that it keeps to WIDTH columns.

    `indent` is that of the lines that follow; `room` is what stands before the first.
    """
    for depth in range(1, 5):
        lines = _lines(_pieces(text, depth), WIDTH - room, WIDTH - indent)
        if len(lines[0]) <= WIDTH - room and all(len(line) <= WIDTH - indent for line in lines[1:]):
            break
    return ("\n" + " " * indent).join(lines)


def _lines(pieces: list[str], first: int, others: int) -> list[str]:
    lines, line = [], ""
    for piece in pieces:
        if line and len(line) + len(piece.rstrip()) > (others if lines else first):
            lines.append(line.rstrip())
            line = ""
        line += piece
    return [*lines, line.rstrip()]


def _pieces(text: str, limit: int) -> list[str]:
    """Splits after the commas inside of at most `limit` brackets, and after a colon outside of all."""
    pieces, quoted, depth, start = [], False, 0, 0
    for i, char in enumerate(text):
        quoted ^= char == '"'
        if not quoted:
            depth += (char in "([{") - (char in ")]}")
            if char == " " and (text[i - 1] == "," and depth <= limit or text[i - 1] == ":" and depth == 0):
                pieces.append(text[start : i + 1])
                start = i + 1
    return [*pieces, text[start:]]


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
    )
    environment.filters["wrap"] = wrap
    return environment
