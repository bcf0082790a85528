"""The classes of generated/tests: facts about an entry, of which tests/ops/harness.py makes tests."""

from __future__ import annotations

from typing import Any

from codegen.derive import Plan, Role
from codegen.emit.python import literal

DEFAULTS = {
    "opinfo": (),
    "tol": {},
    "xfail": {},
    "check": "values",
    "samples": None,
    "dtypes": None,
    "pallas": False,
    "checks": (),
    "numbers": {},
    "sizes": {},
}  # as in the harness


def module(plans: list[Plan], number: int) -> dict[str, Any]:
    return {"classes": [test_class(plan) for plan in plans if plan.shard == number and plan.tests.names]}


def test_class(plan: Plan) -> dict[str, Any]:
    tests = plan.entry.tests
    tol = {}
    for dtype, tolerance in tests.tol.items():
        both = {"rtol": tolerance.rtol, "atol": tolerance.atol}
        tol[dtype] = both if tolerance.atol is not None else tolerance.rtol
    attributes = {
        "entry": plan.name,
        "aten": plan.group.author.base,
        "overloads": tuple(r.overload.name for r in plan.registrations),
        "opinfo": plan.tests.opinfo,
        "tol": tol,
        "xfail": dict(tests.skip),
        "check": tests.check,
        "samples": tests.samples,
        "dtypes": plan.dtypes,
        "pallas": bool(plan.entry.pallas),
        **(_checks(plan) if plan.entry.checks else {}),
    }
    said = {name: value for name, value in attributes.items() if value != DEFAULTS.get(name)}
    return {"name": plan.test_name, "attributes": [(name, literal(value)) for name, value in said.items()]}


def _checks(plan: Plan) -> dict[str, Any]:
    """The checks of the entry, and what the values of a call contribute to its key: their test drives them on a hit."""
    return {
        "checks": plan.entry.checks,
        "numbers": {a.argument.name: a.specialize for a in plan.arguments if a.role is Role.TRACED},
        "sizes": dict(plan.entry.sizes.key) if plan.entry.sizes else {},
    }
