"""The rows of generated/OPS.md."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.derive import Plan
from codegen.emit.measured import Measured, cells


def rows(plans: Sequence[Plan], measured: Sequence[Measured]) -> list[dict[str, str]]:
    return [_row(plan, [row for row in measured if row.aten == _base(plan)]) for plan in plans]


def composed(plans: Sequence[Plan], measured: Sequence[Measured]) -> list[dict[str, str]]:
    """The operators that are no entry's: torch composes them of others."""
    bases = {_base(plan) for plan in plans}
    operators = sorted({row.operator for row in measured if row.aten not in bases})
    return [
        {"op": f"`{name}`"} | cells(row for row in measured if row.operator == name) for name in operators
    ]


def _base(plan: Plan) -> str:
    return plan.name.split(".")[0].removesuffix("_")


def _row(plan: Plan, measured: Sequence[Measured]) -> dict[str, str]:
    registered = [overload.name for overload, _ in plan.native] or [r.overload.name for r in plan.registrations]
    return cells(measured) | {
        "op": f"`{plan.name}`",
        "registered": ", ".join(f"`{name}`" for name in registered),
        "strategy": _cell(f"`{strategy(plan)}`"),
        "promote": plan.promote if plan.promote != "none" else "",
        "autocast": plan.autocast or "",
        "dtypes": ", ".join(plan.entry.dtypes.only) if plan.entry.dtypes else "",
        "notes": _cell("; ".join(_notes(plan))),
    }


def _notes(plan: Plan) -> list[str]:
    """What the entry says of itself, and every deviation with its reason."""
    entry = plan.entry
    notes = [entry.doc] if entry.doc else []
    if entry.autograd:
        notes.append(f"autograd: {entry.autograd.backward}")
    if entry.variants:
        notes.append(f"not registered: {', '.join(entry.variants.excluded)} ({entry.variants.reason})")
    if entry.dtypes and entry.dtypes.reason:
        notes.append(f"dtypes: {entry.dtypes.reason}")
    if entry.autocast and entry.autocast.reason:
        notes.append(f"autocast: {entry.autocast.reason}")
    notes += [f"{dtype} tolerance {t.rtol:g}: {t.reason}" for dtype, t in entry.tests.tol.items() if t.reason]
    return notes + [f"skipped: {what} ({why})" for what, why in entry.tests.skip.items()]


def strategy(plan: Plan) -> str:
    """`lowering: jnp.expm1`, as an entry would say it."""
    entry = plan.entry
    if entry.lowering:
        return f"lowering: {entry.lowering}"
    if entry.expr:
        return f"expr: {' '.join(entry.expr.split())}"
    if entry.vjp:
        return f"vjp of {entry.vjp.of}"
    if entry.pallas:
        return f"pallas: {entry.pallas.kernel} when {entry.pallas.when}, else {entry.pallas.fallback}"
    return "decompose" if entry.decompose else "native"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
