"""E305 and E307: the rules that run what entries name. Their verdicts are remembered (codegen/cache.py)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any

from codegen.derive import Plan
from codegen.diagnostics import Diagnostic
from codegen.emit.render import wrappers_source
from codegen.rules.registry import Context, rule


@rule("E305", late=True)
def decomposition(context: Context) -> Iterator[Diagnostic]:
    """`decompose: true`, but torch has no decomposition of the op, or it ends in ops that have no entry.

    The decomposition is run on meta tensors and followed down to ops with an entry; views and what torch composes of
    others need none. An op that it reaches and that has no entry would fall back to the CPU inside of the program: give
    it an entry.
    """
    lowered = [group for entry, group in context.known if not entry.decompose]
    covered = frozenset(member.name for group in lowered for member in group.members)
    for plan in context.plans:
        if not plan.entry.decompose:
            continue

        def find(plan: Plan = plan) -> list[str]:
            from codegen.probe.decomposition import problems

            return problems(plan.group.author, covered, context.torch)

        for problem in context.verdicts.get([*_fingerprint(context, plan), *sorted(covered)], find):
            what, _, name = problem.partition(" ")
            if what == "reaches":
                message = f"reaches '{name}', which has no entry"
                help = f"tools/regen new {name}" if name in context.torch.groups else "write a 'lowering' or an 'expr'"
            else:
                message, help = problem, "write a 'lowering' or an 'expr'"
            yield Diagnostic("E305", plan.entry.at("decompose"), f"the decomposition of {plan.name} {message}", help)


@rule("E307", late=True)
def disagrees_with_meta(context: Context) -> Iterator[Diagnostic]:
    """The lowering's outputs do not have the shapes and dtypes that torch's meta kernel gives.

    Both are evaluated on a few small samples made from the schema; ops that refuse these are checked when they are
    first compiled. Nothing is cast silently: a lowering without `promote` returns exactly torch's dtype; with `promote`
    it may return the computation dtype, which becomes torch's.
    """
    plans = [
        plan for plan in context.plans if plan.has_wrapper and plan.entry.meta == "torch" and not plan.entry.custom
    ]
    lowerings = _Wrappers(context)
    for plan in plans:
        if plan.entry.sizes:  # the sizes are not meta's to say
            continue

        def find(plan: Plan = plan) -> list[str]:
            from codegen.probe.lowered import disagreements

            return disagreements(plan, lowerings.of(plan))

        for problem in context.verdicts.get(_fingerprint(context, plan), find)[:1]:
            field = next(name for name in ("lowering", "expr", "vjp", "pallas") if getattr(plan.entry, name))
            yield Diagnostic(
                "E307", plan.entry.at(field), f"{plan.name}: {problem}", f"schema: {plan.group.author.schema}"
            )


class _Wrappers:
    """The generated wrappers, made when the first is asked for."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._functions: dict[str, Any] | None = None

    def of(self, plan: Plan) -> Callable[..., Any]:
        if self._functions is None:
            self._functions = {}
            exec(wrappers_source(self._context.plans, self._context.lowerings), self._functions)
        return self._functions[plan.python_name]


def _fingerprint(context: Context, plan: Plan) -> list[str]:
    """Everything that a verdict on the plan's entry rests on."""
    entry = plan.entry
    return [
        context.generator,
        context.torch.version,
        metadata.version("jax"),
        plan.group.author.schema,
        json.dumps(entry.describe(), sort_keys=True, default=repr),
        *(named.source() for named in context.lowerings.named_by(entry)),
        context.lowerings.source("vjp.vjp") if entry.vjp else "",
    ]
