"""E401: what an entry may not weaken without saying why."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.diagnostics import Diagnostic
from codegen.rules.registry import Context, rule

# The loosest relative tolerance, by dtype, that needs no reason. bf16 has 8 bits of mantissa, f16 has 11.
LOOSEST = {"f64": 1e-6, "c128": 1e-6, "f32": 1e-4, "c64": 1e-4, "f16": 1e-2, "bf16": 5e-2}
SETS = {"float": 1e-4, "complex": 1e-4, "number": 1e-4}


@rule("E401")
def without_reason(context: Context) -> Iterator[Diagnostic]:
    """A loose tolerance, a skipped test, narrowed dtypes, an autocast policy that is not ATen's or an excluded op,
    without a reason.

    Whoever reads the entry later must be able to tell a property of the algorithm from a bug that was papered over.
    """
    for entry in context.document.entries:
        for dtype, tolerance in entry.tests.tol.items():
            loosest = LOOSEST.get(dtype, SETS.get(dtype, 0.0))
            if (tolerance.rtol > loosest or (tolerance.atol or 0) > loosest) and not tolerance.reason:
                loose = max(tolerance.rtol, tolerance.atol or 0)
                message = f"tolerance {loose:g} for {dtype} is looser than {loosest:g}"
                yield Diagnostic(
                    "E401", entry.at("tests", "tol", dtype), message, "write {rtol: ..., reason: '...'}: say why"
                )
        for what, reason in entry.tests.skip.items():
            if len(reason.strip()) < 4:
                yield Diagnostic(
                    "E401",
                    entry.at("tests", "skip", what),
                    f"skipping '{what}' needs a reason",
                    "say why, in a few words",
                )
        if entry.dtypes and not (entry.dtypes.reason or "").strip():
            help = (
                "write dtypes: {only: [...], reason: '...'}, or leave it out: the default is all that torch CPU takes"
            )
            yield Diagnostic("E401", entry.at("dtypes"), f"'{entry.name}' narrows its dtypes without a reason", help)
        if entry.op and entry.autocast and not (entry.autocast.reason or "").strip():
            message = f"'{entry.name}' leaves ATen's autocast policy without a reason"
            help = f"write autocast: {{policy: {entry.autocast.policy}, reason: '...'}}"
            yield Diagnostic("E401", entry.at("autocast"), message, help)
    for name, reason in context.document.excluded.reasons.items():
        if not reason.strip():
            yield Diagnostic("E401", context.document.excluded.at(name), f"'{name}' is excluded without a reason")
