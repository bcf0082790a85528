"""Size expressions of `sizes: {key: ...}` as C++: doubles over the call's arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable

FUNCTIONS = {"ceil": "std::ceil", "floor": "std::floor", "abs": "std::abs", "max": "std::max", "min": "std::min"}
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


class Unsupported(Exception):
    """Part of an expression that has no C++ form here."""


def to_cpp(expression: str, argument: Callable[[str], str]) -> str:
    """`argument` gives the C++ of a name. Raises Unsupported or SyntaxError."""
    return _strip(_cpp(ast.parse(expression, mode="eval").body, argument))


def _cpp(node: ast.expr, argument: Callable[[str], str]) -> str:
    match node:
        case ast.Name(id=name):
            return argument(name)
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return repr(float(value))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return f"({_cpp(left, argument)} {_OPERATORS[type(op)]} {_cpp(right, argument)})"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"(-{_cpp(operand, argument)})"
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            return f"{FUNCTIONS[name]}({', '.join(_strip(_cpp(arg, argument)) for arg in args)})"
    raise Unsupported(ast.unparse(node))


def _strip(text: str) -> str:
    """Without the parentheses around the whole."""
    if not text.startswith("("):
        return text
    depth = 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return text[1:-1] if i == len(text) - 1 else text
    return text
