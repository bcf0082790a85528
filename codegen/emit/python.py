"""The Python of generated/lowerings: a wrapper per entry around its JAX function, and the table of entries."""

from __future__ import annotations

import pprint
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from codegen.derive import Plan, Role
from codegen.lowerings import FAMILIES, LIBRARIES, Lowerings

IMPORTS = {
    "jax": "import jax",
    "jnp": "import jax.numpy as jnp",
    "jsp": "import jax.scipy.special as jsp",
    "lax": "from jax import lax",
}


@dataclass(frozen=True)
class Wrapper:
    name: str
    signature: tuple[str, ...]
    entry: str
    body: str


def module(plans: list[Plan], lowerings: Lowerings) -> dict[str, Any]:
    wrapped = [plan for plan in plans if plan.has_wrapper]
    wrappers = [wrapper(plan, lowerings) for plan in wrapped]
    kernels = [kernel(plan) for plan in wrapped if plan.entry.pallas]
    bodies = " ".join([w.body for w in wrappers] + [field for k in kernels for field in k["fields"]])
    imports = [text for name, text in IMPORTS.items() if re.search(rf"(?<![\w.]){name}\.", bodies)]
    return {
        "imports": imports,
        "families": _families(bodies, lowerings, bool(kernels)),
        "kernels": kernels,
        "wrappers": wrappers,
        "entries": [{"name": plan.name, "fields": entry_fields(plan)} for plan in plans if not plan.native],
        "overloads": [(r.overload.name, plan.name) for plan in plans for r in plan.registrations],
    }


def _families(bodies: str, lowerings: Lowerings, kernels: bool) -> list[str]:
    """The imports of the modules that the text uses."""
    used = {suffix: sorted(set(re.findall(rf"(?<![\w.])(\w+)_{suffix}\.", bodies))) for suffix in ("family", "kernels")}
    lines = [f"from {lowerings.kernels.package} import {name} as {name}_kernels" for name in used["kernels"]]
    lines += [f"from {lowerings.package_of(name)} import {name} as {name}_family" for name in used["family"]]
    return lines + ([f"from {FAMILIES}.pallas import Kernel"] if kernels else [])


def kernel(plan: Plan) -> dict[str, Any]:
    """A row of the table of Pallas kernels: the arguments of Kernel(...)."""
    pallas = plan.entry.pallas
    fields = [
        f"kernel={_callable(pallas.kernel, 'kernels')}",
        f"when={_callable(pallas.when, 'kernels')}",
        f"fallback={_callable(pallas.fallback)}",
    ]
    tune = {name: tuple(int(value) for value in values) for name, values in pallas.tune.items()}
    return {"name": plan.name, "fields": fields + ([f"tune={literal(tune)}"] if tune else [])}


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
            f"vjp_family.vjp({_callable(entry.vjp.of)}, wrt={literal(entry.vjp.wrt)}, cotangent={cotangent}, "
            f"mask={entry.vjp.mask}, arguments={{{arguments}}})"
        )
    by_name = ", ".join(f"{name}={name}" for name in plan.parameters)
    if entry.pallas:
        return f'KERNELS["{plan.name}"]({by_name})'
    if lowerings.is_family(entry.lowering):
        return f"{_callable(entry.lowering)}({by_name})"
    return f"{entry.lowering}({', '.join(positional(plan))})"


def positional(plan: Plan) -> tuple[str, ...]:
    """What a library function is called with: the tensors and Scalars, in order."""
    key = (plan.rng_key,) if plan.rng_key else ()
    return (*key, *(a.argument.python_name for a in plan.arguments if a.argument.base in ("Tensor", "Scalar")))


def _callable(path: str, suffix: str = "family") -> str:
    """How a wrapper calls it: entries may have the same names as families (`_softmax`), hence the suffix."""
    head, _, name = path.partition(".")
    return path if head in LIBRARIES else f"{head}_{suffix}.{name}"


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
        "memory_format": (entry.memory_format, None),
        "layouts": (entry.layouts, ()),
        "returns": (entry.returns, None),
        "structured": (plan.group.author.structured, False),
        "dtypes": (plan.dtypes, None),
        "dtypes_reason": (entry.dtypes.reason if entry.dtypes else "", ""),
    }
    return fields + [f"{name}={literal(value)}" for name, (value, default) in options.items() if value != default]


def _params(plan: Plan) -> list[str]:
    traced = {a.argument.name: a.role is Role.TRACED or a.argument.base == "Tensor" for a in plan.arguments}
    return [
        f'Param("{a.argument.python_name}", "{a.argument.type}", {traced[a.argument.name]})' for a in plan.arguments
    ]


def _tuple_of(items: Sequence[str]) -> str:
    return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"


def literal(value: Any) -> str:
    """repr with double quotes, as the formatter wants it."""
    text = pprint.pformat(value, width=10**6, sort_dicts=False)
    return text.replace("'", '"') if '"' not in text else text
