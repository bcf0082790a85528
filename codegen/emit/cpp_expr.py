"""Size expressions of `sizes: {key: ...}` as C++ over the call's numbers, which keep their names: SizeNumbers."""

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
    """The numbers that it is computed from, each once, in order."""
    names = [node.id for node in ast.walk(ast.parse(expression, mode="eval")) if isinstance(node, ast.Name)]
    return sorted(set(names) - set(FUNCTIONS))


def _cpp(node: ast.expr) -> str:
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


def _strip(text: str) -> str:
    """Without the parentheses around the whole."""
    depth = 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return text[1:-1] if text.startswith("(") and i == len(text) - 1 else text
    return text
