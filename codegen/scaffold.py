"""`tools/regen new`: an entry for an op, guessed as far as it can be."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

from codegen.derive import Plan, derive
from codegen.diagnostics import did_you_mean
from codegen.emit.python import positional
from codegen.lowerings import NotFound
from codegen.pipeline import Project, make_context
from codegen.rules import Context
from codegen.spec.model import Entry
from codegen.torch_schema import Group

# Where NumPy's name is not ATen's.
ALIASES = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "div": "true_divide",
    "eq": "equal",
    "ge": "greater_equal",
    "gt": "greater",
    "le": "less_equal",
    "lt": "less",
    "mul": "multiply",
    "ne": "not_equal",
    "neg": "negative",
    "sub": "subtract",
}


def command(project: Project, name: str, append: bool) -> int:
    """Prints the entry, or appends it to the spec; says why not when there should be none."""
    context = make_context(project)
    name = name.removeprefix("aten::")
    group = context.torch.groups.get(name)
    refusal = _unknown(context, name) if group is None else _needless(context, group)
    if refusal:
        print(refusal, file=sys.stderr)
        return 1
    text = entry_text(context, group)
    if not append:
        print(text)
        return 0
    _append(project, context, text)
    print(f"{project.spec.name}: appended an entry for {group.author.name}; next: tools/regen")
    return 0


def _unknown(context: Context, name: str) -> str:
    overloads = context.torch.authors(name.split(".")[0])
    if overloads and "." not in name:
        return f"aten::{name} has several overloads, each with an entry of its own: {', '.join(overloads)}"
    guess = did_you_mean(name, context.torch.overloads)
    return f"'aten::{name}' is not an operator of torch {context.torch.release}{guess}"


def _needless(context: Context, group: Group) -> str | None:
    """Why the group gets no entry."""
    author = group.author
    entry = next((entry for entry, known in context.known if known is group), None)
    if entry:
        return f"{author.name} has an entry, at line {entry.line} of {context.document.source.name}"
    if author.composite_implicit and not (context.torch.differentiable(group) or author.structured):
        return (
            f"{author.name} needs no entry: torch composes it of other ops, through which it is differentiated "
            "(tools/regen explain E204)"
        )
    return None


def entry_text(context: Context, group: Group) -> str:
    """The entry as it stands in ops.yaml, at the indentation of its neighbours."""
    author = group.author
    rng = "key" if "nondeterministic_seeded" in group.tags else None
    plan = derive(Entry(op=author.name, rng=rng), group)
    lines = [] if group.needs_kernel else ["# torch composes it of other ops; with an entry it is one program"]
    lines += [f"# registers {', '.join(member.name for member in group.members)}", f"- op: {author.name}"]
    lines += [f"  {field}" for field in _implementation(context, plan)]
    lines += [f"  rng: {rng}"] if rng else []
    indent = " " * _indent(context)
    return "\n".join(indent + line for line in lines)


def _implementation(context: Context, plan: Plan) -> list[str]:
    for path in _candidates(plan.group.author.base):
        try:
            function = context.lowerings.resolve(path)
            inspect.signature(function).bind(*positional(plan))
        except (NotFound, TypeError, ValueError):
            continue
        if positional(plan) == plan.parameters and not plan.entry.rng:  # random functions differ in more than a name
            return [f"lowering: {path}", *_promotion(plan, function)]
    if not plan.entry.rng and _has_decomposition(plan):
        return ["decompose: true"]
    parameters = ", ".join(plan.parameters)
    name = plan.group.author.base.strip("_")
    return [f"lowering: family.{name}  # write torchtpu/lowerings/family.py: def {name}({parameters})"]


def _candidates(base: str) -> Iterator[str]:
    name = base.removeprefix("special_").rstrip("_")
    for library in ("jnp", "jsp", "lax"):
        yield f"{library}.{ALIASES.get(name, name)}"


def _promotion(plan: Plan, function: Callable[..., Any]) -> list[str]:
    """What the function makes of integers tells whether torch's counterpart computes in floats."""
    if plan.promote != "default":
        return []
    import jax
    import jax.numpy as jnp

    operands = [jax.ShapeDtypeStruct((2,), jnp.int32)] * len(positional(plan))
    try:
        results = jax.tree.leaves(jax.eval_shape(function, *operands))
    except TypeError:  # it takes no integers, as lax functions of floats
        return ["promote: int_to_float"]
    if all(result.dtype == jnp.bool_ for result in results):
        return ["promote: bool"]
    return ["promote: int_to_float"] if any(jnp.issubdtype(r.dtype, jnp.floating) for r in results) else []


def _has_decomposition(plan: Plan) -> bool:
    from torch._decomp import decomposition_table

    from codegen.probe.samples import operator

    return operator(plan.group.author) in decomposition_table


def _indent(context: Context) -> int:
    """Of the dash of an entry."""
    entries = context.document.entries
    return max(0, entries[-1].span.column - 2) if entries else 2


def _append(project: Project, context: Context, text: str) -> None:
    before = project.spec.read_text(encoding="utf-8").rstrip("\n")
    project.spec.write_text(f"{before}\n{text}\n", encoding="utf-8")
