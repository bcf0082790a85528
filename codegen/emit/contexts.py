"""What the templates fill in: plain strings and lists, with every decision already taken."""

from __future__ import annotations

import math
import pprint
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from codegen.derive import SHARDS, ArgPlan, Plan, Registration, Role
from codegen.emit.cpp_expr import to_cpp
from codegen.lowerings import FAMILIES, LIBRARIES, Lowerings

NUMERIC_LIBRARIES = {"jax": "import jax", "jnp": "import jax.numpy as jnp", "jsp": "import jax.scipy.special as jsp"}


@dataclass(frozen=True)
class Wrapper:
    name: str
    signature: tuple[str, ...]
    entry: str
    body: str


# ---- C++


def cpp_shard(plans: list[Plan], shard: int, namespace: str, lowerings: Lowerings) -> dict[str, Any]:
    mine = [plan for plan in plans if plan.shard == shard and plan.registrations and _namespace(plan) == namespace]
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


def multiplies_matrices(plan: Plan, lowerings: Lowerings) -> bool:
    """Whether torch.get_float32_matmul_precision() can change the program: it follows it, and something in it multiplies.

    Read off the names in the source of the lowering and of what it calls; a decomposition could reach anything.
    """
    entry = plan.entry
    if entry.precision != "torch" or entry.decompose:
        return entry.decompose
    path = entry.lowering or (entry.vjp.of if entry.vjp else "")
    text = " ".join((entry.expr or "", path, lowerings.source(path) if path else ""))
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
    """The fields that have defaults: the checks and the size that goes into the key."""
    checks = "{" + ", ".join(f"checks::{name}" for name in plan.entry.checks) + "}"
    size = _key_size_name(plan, registration) if plan.key_sizes else ""
    return f", {checks}, {size}" if size else f", {checks}" if plan.entry.checks else ""


def _cpp_number(value: float) -> str:
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)


def _key_size_name(plan: Plan, registration: Registration) -> str:
    return f"{re.sub(r'[^0-9A-Za-z_]', '_', registration.overload.name)}_{plan.key_sizes[0]}"


def _key_sizes(plan: Plan) -> list[dict[str, Any]]:
    """A function per registration: the arguments of two members need not stand in the same places."""
    functions = []
    for registration in plan.registrations if plan.key_sizes else ():
        used: dict[str, int] = {}
        places = {a.argument.python_name: i for i, a in enumerate(registration.arguments)}

        def value(name: str) -> str:
            used[name] = places[name]
            return name

        functions.append(
            {
                "name": _key_size_name(plan, registration),
                "overload": registration.overload.name,
                "expression": to_cpp(plan.entry.sizes.key[plan.key_sizes[0]], value),
                "arguments": list(used.items()),
            }
        )
    return functions


# ---- Python


def strategy(plan: Plan) -> str:
    """`lowering: jnp.expm1`, as an entry would say it."""
    entry = plan.entry
    if entry.lowering:
        return f"lowering: {entry.lowering}"
    if entry.expr:
        return f"expr: {' '.join(entry.expr.split())}"
    if entry.vjp:
        return f"vjp of {entry.vjp.of}"
    return "decompose" if entry.decompose else "native"


def lowering_module(plans: list[Plan], lowerings: Lowerings) -> dict[str, Any]:
    wrapped = [plan for plan in plans if plan.has_wrapper]
    wrappers = [wrapper(plan, lowerings) for plan in wrapped]
    bodies = " ".join(w.body for w in wrappers)
    imports = [text for name, text in NUMERIC_LIBRARIES.items() if re.search(rf"(?<![\w.]){name}\.", bodies)]
    if re.search(r"(?<![\w.])lax\.", bodies):
        imports.append("from jax import lax")
    families = sorted(set(re.findall(r"(?<![\w.])(\w+)_family\.", bodies)))
    return {
        "imports": imports,
        "families": [f"from {_package(family, lowerings)} import {family} as {family}_family" for family in families],
        "wrappers": wrappers,
        "entries": [{"name": plan.name, "fields": entry_fields(plan)} for plan in plans if not plan.native],
        "overloads": [(r.overload.name, plan.name) for plan in plans for r in plan.registrations],
    }


def _package(family: str, lowerings: Lowerings) -> str:
    return FAMILIES if family == "vjp" else lowerings.package  # vjp is not a family but how all of them are differentiated


def wrapper(plan: Plan, lowerings: Lowerings) -> Wrapper:
    return Wrapper(plan.python_name, plan.parameters, plan.name, _body(plan, lowerings))


def _body(plan: Plan, lowerings: Lowerings) -> str:
    entry = plan.entry
    if entry.expr:
        return " ".join(entry.expr.split())
    if entry.vjp:
        parameters = lowerings.parameters(entry.vjp.of)
        passed = [name for name in plan.parameters if name in parameters]
        arguments = ", ".join(f'"{name}": {name}' for name in passed)
        cotangents = entry.vjp.cotangent
        cotangent = cotangents[0] if len(cotangents) == 1 else f"[{', '.join(cotangents)}]"
        return (
            f"vjp_family.vjp({_callable(entry.vjp.of)}, wrt={_python(entry.vjp.wrt)}, cotangent={cotangent}, "
            f"mask={entry.vjp.mask}, arguments={{{arguments}}})"
        )
    if lowerings.is_family(entry.lowering):
        return f"{_callable(entry.lowering)}({', '.join(f'{name}={name}' for name in plan.parameters)})"
    return f"{entry.lowering}({', '.join(positional(plan))})"


def positional(plan: Plan) -> tuple[str, ...]:
    """What a library function is called with: the tensors and Scalars, in order."""
    key = (plan.rng_key,) if plan.rng_key else ()
    return (*key, *(a.argument.python_name for a in plan.arguments if a.argument.base in ("Tensor", "Scalar")))


def _callable(path: str) -> str:
    """How a wrapper calls it: entries may have the same names as families (`_softmax`), hence the suffix."""
    head, _, name = path.partition(".")
    return path if head in LIBRARIES else f"{head}_family.{name}"


def entry_fields(plan: Plan) -> list[str]:
    """The arguments of Entry(...), those at their default left out."""
    entry = plan.entry
    fields = [f'"{plan.name}"', _tuple_of(_params(plan)), plan.python_name if plan.has_wrapper else "None"]
    names = {a.argument.name: a.argument.python_name for a in plan.arguments}
    options = {
        "decompose": (entry.decompose, False),
        "promote": (plan.promote, "none"),
        "promoted": (tuple(names.get(name, name) for name in plan.promoted), ()),
        "dims": (names.get(entry.dims, entry.dims), None),
        "rng": (bool(entry.rng), False),
        "precision": (entry.precision, "torch"),
        "meta": (entry.meta, "torch"),
        "key_sizes": (plan.key_sizes, ()),
        "data_sizes": (bool(entry.sizes and entry.sizes.data), False),
        "mutates": (entry.mutates, ()),
        "returns": (entry.returns, None),
    }
    return fields + [f"{name}={_python(value)}" for name, (value, default) in options.items() if value != default]


def _params(plan: Plan) -> list[str]:
    traced = {a.argument.name: a.role is Role.TRACED or a.argument.base == "Tensor" for a in plan.arguments}
    return [f'Param("{a.argument.python_name}", "{a.argument.type}", {traced[a.argument.name]})' for a in plan.arguments]


def _tuple_of(items: Sequence[str]) -> str:
    return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"


def _python(value: Any) -> str:
    """repr with double quotes, as the formatter wants it."""
    text = pprint.pformat(value, width=10**6, sort_dicts=False)
    return text.replace("'", '"') if '"' not in text else text


# ---- tests and documentation


def test_module(plans: list[Plan], shard: int) -> dict[str, Any]:
    return {"classes": [test_class(plan) for plan in plans if plan.shard == shard and plan.tests.names]}


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
        "dtypes": plan.tests.dtypes,
    }
    said = {name: value for name, value in attributes.items() if value != _TEST_DEFAULTS.get(name)}
    return {"name": plan.test_name, "attributes": [(name, _python(value)) for name, value in said.items()]}


_TEST_DEFAULTS = {"opinfo": (), "tol": {}, "xfail": {}, "check": "values"}  # as in tests/ops/harness.py


def ops_table(plans: list[Plan]) -> list[dict[str, str]]:
    rows = []
    for plan in plans:
        entry = plan.entry
        registered = [o.name for o, _ in plan.native] or [r.overload.name for r in plan.registrations]
        notes = [entry.doc or ""]
        notes += [f"not registered: {', '.join(entry.variants.excluded)} ({entry.variants.reason})"] if entry.variants else []
        notes += [f"dtypes: {entry.dtypes.reason}"] if entry.dtypes and entry.dtypes.reason else []
        notes += [f"{d} tolerance {t.rtol:g}: {t.reason}" for d, t in entry.tests.tol.items() if t.reason]
        notes += [f"skipped: {what} ({why})" for what, why in entry.tests.skip.items()]
        rows.append(
            {
                "op": f"`{plan.name}`",
                "registered": ", ".join(f"`{name}`" for name in registered),
                "strategy": f"`{strategy(plan)}`".replace("|", "\\|"),
                "promote": plan.promote,
                "dtypes": ", ".join(entry.dtypes.only) if entry.dtypes else "all of torch CPU's",
                "notes": "; ".join(note for note in notes if note).replace("|", "\\|"),
            }
        )
    return rows


SHARD_NUMBERS = range(SHARDS)
