"""E301, E302, E304, E306: what an entry is implemented by."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path as FilePath

from codegen.derive import Plan
from codegen.diagnostics import Diagnostic, did_you_mean, listing
from codegen.emit.python import positional
from codegen.formula import Unbound, formula
from codegen.lowerings import Named, NotFound
from codegen.rules.registry import Context, rule

KEY_MAKERS = ("PRNGKey", "key", "unsafe_rbg_key")


@rule("E301")
def not_importable(context: Context) -> Iterator[Diagnostic]:
    """The entry names a lowering, a check or a native function that does not exist.

    A lowering is `jnp.x`, `lax.x` or `jsp.x`, or `family.function`, defined in torchtpu/lowerings/family.py. The kernel
    of a `pallas` entry and its predicate `when` are defined in torchtpu/kernels/family.py. Checks are declared in
    csrc/dispatch/checks.h, native functions in csrc/aten/native.h. The op that an `autograd` formula names as its
    backward has an entry.
    """
    names = [entry.name for entry in context.document.entries]
    for entry in context.document.entries:
        for named in context.lowerings.named_by(entry):
            try:
                named.lowerings.resolve(named.dotted)
            except NotFound as error:
                yield Diagnostic("E301", entry.at(*named.path), error.message, error.help)
        if entry.autograd and entry.autograd.backward not in names:
            backward = entry.autograd.backward
            message = f"the backward op '{backward}' has no entry{did_you_mean(backward, names)}"
            help = "such as: custom: tpu::name_backward(Tensor grad_output, ...) -> (Tensor grad_self, ...)"
            yield Diagnostic("E301", entry.at("autograd", "backward"), message, help)
    checks, native = _declared(context.csrc / "dispatch" / "checks.h"), _declared(context.csrc / "aten" / "native.h")
    for entry in context.document.entries:
        for i, name in enumerate(entry.checks):
            if name not in checks:
                message = f"csrc/dispatch/checks.h declares no '{name}'{did_you_mean(name, checks)}"
                yield Diagnostic(
                    "E301", entry.at("checks", i), message, f"declare it: bool {name}(c10::ArrayRef<c10::IValue> args);"
                )
        for overload, name in (entry.native or {}).items():
            if name not in native:
                path = ("native", overload) if overload else ("native",)
                message = f"csrc/aten/native.h declares no '{name}'{did_you_mean(name, native)}"
                yield Diagnostic("E301", entry.at(*path), message)


def _declared(header: FilePath) -> list[str]:
    """The functions that a header declares."""
    text = re.sub(r"//[^\n]*", "", header.read_text()) if header.is_file() else ""
    return re.findall(r"\b(\w+)\s*\([^;{]*\)\s*;", text)


def _resolved(named: Named) -> dict[str, inspect.Parameter] | None:
    """A callable's parameters; None if E301 has spoken, or if it does not tell."""
    try:
        return named.lowerings.parameters(named.dotted)
    except (NotFound, ValueError, TypeError):
        return None


@rule("E302")
def not_callable_as_schema(context: Context) -> Iterator[Diagnostic]:
    """The lowering cannot be called with what the op has.

    A hand-written lowering is called with every argument by name, so its parameters are the schema's: `from` is
    `from_`, and `key` comes first if the op is random (`rng_key` where the schema has a `key` of its own). It may have
    more, with defaults. A library function is called with the tensors and Scalars in order, so an op with other
    arguments needs an `expr` or a hand-written lowering. Memory formats, devices and generators are never passed.
    """
    for plan in context.plans:
        for named in context.lowerings.named_by(plan.entry):
            parameters = _resolved(named) if named.path != ("vjp", "of") else None  # E304's
            if parameters is None:
                continue
            family = named.lowerings.is_family(named.dotted)
            tuned = tuple(plan.entry.pallas.tune) if named.path == ("pallas", "kernel") else ()
            problem = _family((*plan.parameters, *tuned), parameters) if family else _library(plan, context, named.dotted)
            if problem:
                shown = f"{named.dotted}({', '.join(parameters)})" if family else named.dotted
                message = f"{shown} cannot be called as {plan.name}: {problem}"
                help = f"schema: {plan.group.author.schema}"
                yield Diagnostic("E302", plan.entry.at(*named.path), message, help)


def _family(passed: tuple[str, ...], parameters: dict[str, inspect.Parameter]) -> str | None:
    kinds = {parameter.kind for parameter in parameters.values()}
    missing = [] if inspect.Parameter.VAR_KEYWORD in kinds else [name for name in passed if name not in parameters]
    variadic = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    unknown = [
        name
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty and parameter.kind not in variadic and name not in passed
    ]
    if missing:
        return f"no parameter {listing(missing)}" + (f", and it requires {listing(unknown)}" if unknown else "")
    return f"it requires {listing(unknown)}, which the op does not have" if unknown else None


def _library(plan: Plan, context: Context, path: str) -> str | None:
    passed = positional(plan)
    lost = [name for name in plan.parameters if name not in passed]
    if lost:
        return f"it would not receive {listing(lost)}"
    try:
        inspect.signature(context.lowerings.resolve(path)).bind(*passed)
    except TypeError as error:
        return str(error)
    except ValueError:  # a builtin without a signature: E307 will call it
        return None
    return None


@rule("E304")
def vjp_needs(context: Context) -> Iterator[Diagnostic]:
    """A vjp needs a value that the backward op does not receive.

    `vjp: {of: f, wrt: [x], cotangent: g}` evaluates jax.vjp of f at the arguments of the backward op that have the
    names of f's parameters. So f must be a function of values that the backward op has. Where the forward saves a
    statistic instead of an argument (layer norm's rstd instead of eps), write f in terms of that statistic.

    The backward op of an `autograd` formula receives, by name: what `saves` names (tensor arguments, outputs); every
    argument that is no tensor; the gradients of the outputs (`grad_output`, or `grad_output0` and so on, or `grad_x` of
    an output x; `Tensor?` where there may be none); and `output_mask`, which of its own outputs are wanted. These are
    named for the arguments that they are the gradients of: `-> (Tensor grad_self, Tensor grad_weight)`.
    """
    plans = {plan.name: plan for plan in context.plans}
    for plan in context.plans:
        if plan.entry.autograd and plan.entry.autograd.backward in plans:
            try:
                formula(plan, plans[plan.entry.autograd.backward].group.author)
            except Unbound as unbound:
                yield Diagnostic("E304", plan.entry.at(*unbound.path), unbound.message, unbound.help)
    for plan in context.plans:
        vjp = plan.entry.vjp
        parameters = _resolved(Named((), vjp.of, context.lowerings)) if vjp else None
        if vjp is None or parameters is None:
            continue
        has = plan.parameters
        missing = [
            n for n, p in parameters.items() if n not in has and p.default is p.empty and p.kind is not p.VAR_KEYWORD
        ]
        if missing:
            others = [name for name in has if name not in vjp.cotangent and name != vjp.mask]
            message = f"vjp of {vjp.of} needs {listing(missing)}, which '{plan.name}' does not receive"
            yield Diagnostic(
                "E304", plan.entry.at("vjp", "of"), message, f"point 'of' at a function of ({', '.join(others)})"
            )
        for field, names, choices, whose in (
            ("wrt", vjp.wrt, tuple(parameters), f"a parameter of {vjp.of}"),
            ("cotangent", vjp.cotangent, has, f"an argument of {plan.name}"),
            ("mask", (vjp.mask,) if vjp.mask else (), has, f"an argument of {plan.name}"),
        ):
            for i, name in enumerate(names):
                if name not in choices:
                    span = plan.entry.at("vjp", field, i)
                    help = f"schema: {plan.group.author.schema}"
                    yield Diagnostic("E304", span, f"'{name}' is not {whose}{did_you_mean(name, choices)}", help)


@rule("E306")
def random_without_key(context: Context) -> Iterator[Diagnostic]:
    """A random op without `rng: key`, or a lowering that makes its own key.

    A key that is made inside a lowering is a constant of the program: every call returns the same numbers. With
    `rng: key` the lowering receives a key whose seed and offset are operands of each call, drawn from the generator.
    """
    for plan in context.plans:
        entry = plan.entry
        seeded = "nondeterministic_seeded" in plan.group.tags
        if seeded and not entry.rng and not plan.native and not entry.custom:
            yield Diagnostic(
                "E306", entry.at(), f"'{plan.name}' draws random numbers; its entry has no 'rng: key'", "add rng: key"
            )
        if entry.rng and not seeded and not entry.custom:
            message = f"'{plan.name}' draws no random numbers: torch does not tag it nondeterministic_seeded"
            yield Diagnostic("E306", entry.at("rng"), message, "delete rng")
        for named in context.lowerings.named_by(entry):
            try:
                definitions = named.lowerings.definitions(named.dotted)
            except NotFound:
                continue
            for made in sorted({call for node in definitions for call in _keys_made(node)}):
                help = "take the parameter 'key' and write rng: key"
                message = f"{named.dotted} makes its own random key ({made})"
                yield Diagnostic("E306", entry.at(*named.path), message, help)
        if entry.expr:
            try:
                made = sorted(set(_keys_made(ast.parse(entry.expr.strip(), mode="eval"))))
            except SyntaxError:
                continue
            for call in made:
                yield Diagnostic(
                    "E306", entry.at("expr"), f"the expression makes its own random key ({call})", "use the name 'key'"
                )


def _keys_made(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            owner, _, name = called.rpartition(".")
            if name in KEY_MAKERS and (name == "PRNGKey" or owner.rpartition(".")[2] == "random"):
                yield called
