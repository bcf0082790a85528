"""The C++ of generated/csrc: tables of OpSpecs, and the native few."""

from __future__ import annotations

import math
import re
from typing import Any

from codegen.derive import ArgPlan, Plan, Registration
from codegen.emit.cpp_expr import lists_in, names_in, to_cpp
from codegen.formula import formula
from codegen.lowerings import Lowerings


def shard(plans: list[Plan], number: int, namespace: str, lowerings: Lowerings) -> dict[str, Any]:
    mine = [plan for plan in plans if plan.shard == number and plan.registrations and _namespace(plan) == namespace]
    sizes = [size for plan in mine for size in _key_sizes(plan)]
    entries = []
    for plan in mine:
        multiplies = multiplies_matrices(plan, lowerings)
        specs = [spec(plan, registration, multiplies) for registration in plan.registrations]
        entries.append({"name": plan.name, "specs": specs})
    return {
        "entries": entries,
        "definitions": [plan.entry.custom.partition("::")[2] for plan in mine if plan.entry.custom],
        "key_sizes": sizes,
        "uses_checks": any(plan.entry.checks for plan in mine),
        "namespace": namespace,
    }


def native_table(plans: list[Plan]) -> dict[str, Any]:
    rows = [(plan, overload, fn) for plan in plans for overload, fn in plan.native]
    return {"rows": [{"entry": plan.name, "overload": overload.name, "function": fn} for plan, overload, fn in rows]}


def autocast_table(plans: list[Plan]) -> dict[str, Any]:
    """The entries that name a policy: it is for the form that a person calls, which writes nothing."""
    named = [plan for plan in plans if plan.entry.autocast]
    rows = [(plan.group.author.name, plan.entry.autocast.policy.capitalize()) for plan in named]
    return {"rows": [{"overload": overload, "policy": policy} for overload, policy in rows]}


def formulas(plans: list[Plan]) -> dict[str, Any]:
    """Per namespace: the FormulaSpecs, and the custom ops that have none."""
    by_name = {plan.name: plan for plan in plans}
    namespaces = []
    for namespace in ("aten", "tpu"):
        mine = [plan for plan in plans if _namespace(plan) == namespace]
        own = [formula_spec(plan, by_name[plan.entry.autograd.backward]) for plan in mine if plan.entry.autograd]
        without = [f'"{plan.name}"' for plan in mine if plan.entry.custom and not plan.entry.autograd]
        if own or without:
            namespaces.append((namespace, own, without))
    return {"namespaces": namespaces}


def formula_spec(plan: Plan, backward: Plan) -> str:
    """The initializer of a FormulaSpec."""
    made = formula(plan, backward.group.author)
    arguments = ", ".join(f"{{{binding.kind}, {binding.index}}}" for binding in made.arguments)
    wrt = ", ".join(map(str, made.wrt))
    return f'{{"{plan.name}", "{backward.name}", {{{arguments}}}, {{{wrt}}}}},'


def multiplies_matrices(plan: Plan, lowerings: Lowerings) -> bool:
    """Whether torch.get_float32_matmul_precision() can change the program.

    The entry must follow it, and something in it multiply: read off the names in the source of the lowering and of what
    it calls; a decomposition could reach anything.
    """
    entry = plan.entry
    if entry.precision != "torch" or entry.decompose:
        return entry.decompose
    named = lowerings.named_by(entry)
    text = " ".join((entry.expr or "", *(n.dotted for n in named), *(n.source() for n in named)))
    return bool(_MULTIPLIES.search(text))


_MULTIPLIES = re.compile(r"dot|matmul|einsum|conv_|convolve|linalg|inner|attention| @ ")


def _bool(value: bool) -> str:
    return str(value).lower()


def _namespace(plan: Plan) -> str:
    return "tpu" if plan.entry.custom else "aten"


def spec(plan: Plan, registration: Registration, multiplies: bool) -> str:
    """The initializer of an OpSpec; `multiplies`: see multiplies_matrices."""
    arguments = ", ".join(_arg_spec(argument) for argument in registration.arguments)
    flags = f"{_bool(bool(plan.entry.rng))}, {_bool(multiplies)}"
    return f'{{"{registration.overload.name}", "{plan.name}", {flags}, {{{arguments}}}{_rest(plan, registration)}}},'


def _arg_spec(plan: ArgPlan) -> str:
    special = f", {{{', '.join(_cpp_number(value) for value in plan.specialize)}}}" if plan.specialize else ""
    return f'{{"{plan.argument.name}", Role::{plan.role.value}{special}}}'


def _rest(plan: Plan, registration: Registration) -> str:
    """The fields that have defaults: the checks and the sizes that go into the key."""
    checks = "{" + ", ".join(f"checks::{name}" for name in plan.entry.checks) + "}"
    sizes = "{" + ", ".join(_key_size_name(registration, name) for name in plan.key_sizes) + "}"
    return f", {checks}, {sizes}" if plan.key_sizes else f", {checks}" if plan.entry.checks else ""


def _cpp_number(value: float) -> str:
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)


def _key_size_name(registration: Registration, size: str) -> str:
    return f"{re.sub(r'[^0-9A-Za-z_]', '_', registration.overload.name)}_{size}"


def _key_sizes(plan: Plan) -> list[dict[str, Any]]:
    """A function per size and registration: the arguments of two members need not stand in the same places."""
    functions = []
    for name in plan.key_sizes:
        expression = plan.entry.sizes.key[name]
        for registration in plan.registrations:
            places = {a.argument.python_name: i for i, a in enumerate(registration.arguments)}
            functions.append(
                {
                    "name": _key_size_name(registration, name),
                    "overload": registration.overload.name,
                    "expression": to_cpp(expression),
                    "arguments": [
                        (used, places[used], used in lists_in(expression)) for used in names_in(expression)
                    ],
                }
            )
    return functions
