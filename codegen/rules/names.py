"""E303: names inside an entry that its schema does not have."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from codegen.derive import derive, lowered_arguments
from codegen.diagnostics import Diagnostic, Span, did_you_mean
from codegen.emit.cpp_expr import FUNCTIONS, Unsupported, lists_in, names_in, to_cpp
from codegen.rules.registry import Context, rule
from codegen.spec.model import Entry, Path
from codegen.torch_schema import Group

LIBRARIES = ("jnp", "lax", "jax", "jsp")
# What an expression may use of Python; names that are also ATen ops would be shadowed in the generated module.
BUILTINS = ("zip", "len", "enumerate", "isinstance", "tuple", "list", "int", "float", "bool", "complex", "slice")
assert all(hasattr(builtins, name) for name in BUILTINS)


@rule("E303")
def unknown_name(context: Context) -> Iterator[Diagnostic]:
    """A name that is not an argument of the op.

    An `expr` may use the op's arguments (`from` is `from_`), `key` if it is random, jnp, lax, jax, jsp and a few
    builtins; `dims`, `static`, `traced`, `positions`, `specialize`, `mutates`, `memory_format`, `layouts`, `promote` and
    `sizes: {key: ...}` name arguments; `returns` names returns. A size itself has a name that no argument has. Out
    arguments, generators, layouts, devices and memory formats never reach a lowering.
    """
    for entry, group in context.known:
        arguments = lowered_arguments(group.author)
        names = [argument.name for argument in arguments]
        parameters = list(derive(entry, group).parameters)
        help = f"schema: {group.author.schema}"
        if entry.expr:
            for span, message in _expression(entry, parameters):
                yield Diagnostic("E303", span, message, help)
        for path, name in _mentioned(entry):
            if name not in names:
                span = entry.at(*path) if path in entry.marks.values else entry.key_at(*path)
                message = f"'{name}' is not an argument of {entry.name}{did_you_mean(name, names)}"
                yield Diagnostic("E303", span, message, help)
        returned = [name for name in group.author.returns if name]
        for i, name in enumerate(entry.returns or ()):
            if name not in returned:
                message = f"'{name}' is not a return of {entry.name}{did_you_mean(name, returned)}"
                yield Diagnostic("E303", entry.at("returns", i), message, help)
        for name, expression in (entry.sizes.key if entry.sizes else {}).items():
            for message in _size(expression, group):
                yield Diagnostic("E303", entry.at("sizes", "key", name), message, help)
            if not name.isidentifier() or parameters.count(name) > 1:
                message = f"'{name}' cannot name a size of {entry.name}: the lowering receives it as a new parameter"
                yield Diagnostic("E303", entry.key_at("sizes", "key", name), message, help)


def _mentioned(entry: Entry) -> Iterator[tuple[Path, str]]:
    """Every argument that a field other than an expression names, and where."""
    lists: dict[Path, Iterable[str]] = {
        (name,): getattr(entry, name) or () for name in ("static", "traced", "positions", "mutates", "memory_format", "layouts")
    }
    if entry.promote and entry.promote.args:
        lists["promote", entry.promote.kind] = entry.promote.args
    for path, listed in lists.items():
        yield from (((*path, i), name) for i, name in enumerate(listed))
    yield from (((("specialize", name)), name) for name in entry.specialize)
    if entry.dims:
        yield ("dims",), entry.dims


def _expression(entry: Entry, parameters: list[str]) -> Iterator[tuple[Span, str]]:
    at = entry.at("expr")
    try:
        tree = ast.parse(entry.expr.strip(), mode="eval")
    except SyntaxError as error:
        yield at, f"this is not a Python expression: {error.msg}"
        return
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    allowed = {*parameters, *bound, *LIBRARIES, *BUILTINS}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in allowed:
            # Inside a quoted, folded or long expression columns are not those of the file: point at the whole.
            plain = at.width == len(entry.expr) and node.lineno == 1
            span = Span(at.line, at.column + node.col_offset, len(node.id)) if plain else at
            yield span, f"'{node.id}' is not an argument of {entry.name}{did_you_mean(node.id, parameters)}"


def _size(expression: str, group: Group) -> Iterator[str]:
    """What keeps a size expression from being computed in C++ from every member's numbers."""
    try:
        to_cpp(expression)
    except SyntaxError as error:
        yield f"this is not an expression: {error.msg}"
        return
    except Unsupported as error:
        yield f"'{error}' cannot be computed for the key; use {', '.join(FUNCTIONS)}, + - * /"
        return
    for member in group.members:
        numbers = {a.python_name for a in member.arguments if a.type in ("Scalar", "float", "int")}
        lists = {a.python_name for a in member.arguments if a.type in ("Scalar[]", "float[]", "int[]")}
        wanted = {name: (lists, "list") if name in lists_in(expression) else (numbers, "number") for name in names_in(expression)}
        missing = [(name, known, kind) for name, (known, kind) in wanted.items() if name not in known]
        for name, known, kind in missing[:1]:
            yield f"'{name}' is not a {kind} that {member.name} receives{did_you_mean(name, known)}"
            return
