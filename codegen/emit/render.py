"""Renders every generated file from the plans."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2

from codegen.derive import SHARDS, Plan
from codegen.emit import cpp, measured, ops_table, python, tests
from codegen.emit.wrap import literal, wrap
from codegen.lowerings import Lowerings
from codegen.spec import fields

TEMPLATES = Path(__file__).parent.parent / "templates"


def render(
    plans: Sequence[Plan], lowerings: Lowerings, excluded: Mapping[str, str], coverage: str
) -> dict[str, str]:
    """The generated tree, path by path, in the order of the entries' names so that moving an entry changes nothing.

    `coverage` is the text of what was measured (see measured.py), which stays as it is.
    """
    plans = sorted(plans, key=lambda plan: plan.name)
    files = {}
    for number in range(SHARDS):
        files[f"csrc/ops_{number}.cpp"] = _fill("ops.cpp", **cpp.shard(plans, number, "aten", lowerings))
        files[f"tests/test_ops_{number}.py"] = _fill("test_ops.py", **tests.module(plans, number))
        custom = cpp.shard(plans, number, "tpu", lowerings)
        if custom["entries"]:
            files[f"csrc/custom_{number}.cpp"] = _fill("ops.cpp", **custom)
    files["csrc/formulas.cpp"] = _fill("formulas.cpp", **cpp.formulas(plans))
    files["csrc/register_native.cpp"] = _fill("register_native.cpp", **cpp.native_table(plans))
    files["csrc/autocast.cpp"] = _fill("autocast.cpp", **cpp.autocast_table(plans))
    files["lowerings/ops.py"] = _fill("ops.py", with_entries=True, **python.module(plans, lowerings))
    files["lowerings/__init__.py"] = _fill("lowerings_init.py")
    registered = sum(len(plan.registrations) + len(plan.native) for plan in plans)
    found = measured.read(coverage)
    if coverage:
        files[measured.NAME] = coverage
    files["OPS.md"] = _fill(
        "OPS.md",
        rows=ops_table.rows(plans, found),
        composed=ops_table.composed(plans, found),
        dtypes=sorted({row.dtype for row in found}),
        excluded=excluded,
        registered=registered,
        reference=fields.reference(),
    )
    files["ops.schema.json"] = json.dumps(fields.json_schema(), indent=2) + "\n"
    return dict(sorted(files.items()))


def wrappers_source(plans: Sequence[Plan], lowerings: Lowerings) -> str:
    """The wrappers alone, for rules that run them before anything is written."""
    return _fill("ops.py", with_entries=False, **python.module(list(plans), lowerings))


def _fill(template: str, **context: object) -> str:
    return _environment().get_template(f"{template}.jinja").render(context)


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
    environment.filters |= {"literal": literal, "wrap": wrap}
    return environment
