"""Size expressions of `sizes: {key: ...}` as C++ over the call's numbers, which keep their names: SizeNumbers.

`max(name)` of one argument is the largest of a list of numbers.
"""

from __future__ import annotations

import ast

FUNCTIONS = ("ceil", "floor", "abs", "max", "min")
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


class Unsupported(Exception):
    """A part of an expression that has no C++ form here."""


def to_cpp(expression: str) -> str:
    """Raises Unsupported or SyntaxError."""
    return _strip(_cpp(ast.parse(expression, mode="eval").body))


def names_in(expression: str) -> list[str]:
    """The numbers and the lists of numbers that it is computed from, each once, in order."""
    names = [node.id for node in ast.walk(ast.parse(expression, mode="eval")) if isinstance(node, ast.Name)]
    return sorted(set(names) - set(FUNCTIONS))


def lists_in(expression: str) -> set[str]:
    """Those of the names that must be lists."""
    return {name for node in ast.walk(ast.parse(expression, mode="eval")) if (name := _list(node))}


def _cpp(node: ast.expr) -> str:
    if name := _list(node):
        return f"largest({name})"
    match node:
        case ast.Name(id=name) if name not in FUNCTIONS:
            return name
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return repr(float(value))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return f"({_cpp(left)} {_OPERATORS[type(op)]} {_cpp(right)})"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"(-{_cpp(operand)})"
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            return f"{name}({', '.join(_strip(_cpp(arg)) for arg in args)})"
    raise Unsupported(ast.unparse(node))


def _list(node: ast.AST) -> str | None:
    """The name of the list whose largest number this is."""
    match node:
        case ast.Call(func=ast.Name(id="max"), args=[ast.Name(id=name)], keywords=[]) if name not in FUNCTIONS:
            return name
    return None


def _strip(text: str) -> str:
    """Without the parentheses around the whole."""
    depth = 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return text[1:-1] if text.startswith("(") and i == len(text) - 1 else text
    return text
