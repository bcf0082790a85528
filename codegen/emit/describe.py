"""Everything that is derived from one entry, as text: `regen show` prints it, and its hash tells that it changed."""

from __future__ import annotations

from codegen.derive import Plan, Role
from codegen.emit import cpp, ops_table, python, tests
from codegen.lowerings import Lowerings


def describe(plan: Plan, lowerings: Lowerings) -> str:
    parts = [f"{plan.name}: {ops_table.strategy(plan)}", f"  schema: {plan.group.author.schema}"]
    parts += [f"  dtypes: {', '.join(plan.dtypes)}; others run on the CPU"] if plan.dtypes else []
    if plan.autocast:
        parts.append(f"  autocast: {plan.autocast}, {'by this entry' if plan.entry.autocast else 'as in ATen'}")
    if plan.native:
        parts += ["", "native", *(f"  {overload.name} -> torchtpu::native::{fn}" for overload, fn in plan.native)]
        return "\n".join(parts)
    parts += ["", "variants"]
    for registration in plan.registrations:
        parts.append(f"  {registration.overload.schema}")
    parts += ["", "key plan"]
    for a in plan.registrations[0].arguments if plan.registrations else ():
        special = f" (own program at {', '.join(map(str, a.specialize))})" if a.specialize else ""
        parts.append(f"  {a.argument.name}: {_MEANING[a.role]}{special}")
    parts += [f"  {name}: computed in C++ on every call, in the key" for name in plan.key_sizes]
    parts += ["  the float32 matmul precision is in the key"] if cpp.multiplies_matrices(plan, lowerings) else []
    parts += [f"  promote {plan.promote}: {', '.join(plan.promoted)}"] if plan.promoted else []
    parts += ["", "C++"]
    multiplies = cpp.multiplies_matrices(plan, lowerings)
    parts += [f"  {cpp.spec(plan, registration, multiplies)}" for registration in plan.registrations]
    if plan.entry.autograd:
        saved = ", ".join(plan.entry.autograd.saves)
        parts += ["", "autograd", f"  saves {saved} for {plan.entry.autograd.backward}"]
    parts += ["", "Python"]
    if plan.has_wrapper:
        wrapper = python.wrapper(plan, lowerings)
        parts += [f"  def {wrapper.name}({', '.join(wrapper.signature)}):", f"      return {wrapper.body}"]
    parts += [f"  Entry({', '.join(python.entry_fields(plan))})"]
    if plan.tests.names:
        test = tests.test_class(plan)
        parts += ["", "tests", f"  class {test['name']}: {', '.join(plan.tests.names)}"]
        parts += [f"    {name} = {value}" for name, value in test["attributes"]]
    return "\n".join(parts)


def summary(plan: Plan) -> str:
    """`expm1: 3 registrations, 1 lowering, 6 tests`."""
    if plan.native:
        return f"{plan.name}: {_count(len(plan.native), 'native registration')}"
    how = "1 decomposition" if plan.entry.decompose else "1 lowering"
    registrations, tests = len(plan.registrations), len(plan.tests.names)
    return f"{plan.name}: {_count(registrations, 'registration')}, {how}, {_count(tests, 'test')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


_MEANING = {
    Role.READ: "tensor, read: its metadata is in the key",
    Role.WRITE: "tensor, written: its metadata is in the key",
    Role.TRACED: "traced: its type is in the key, its value travels with the call",
    Role.STATIC: "static: its value is in the key",
    Role.GENERATOR: "where random numbers come from",
    Role.IGNORED: "not in the key",
}
