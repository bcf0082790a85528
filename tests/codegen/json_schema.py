"""The part of JSON Schema that generated/ops.schema.json uses, for checking it without another dependency."""

import re
from typing import Any

_TYPES = {"object": dict, "array": list, "string": str, "number": (int, float)}


def fits(value: Any, schema: dict[str, Any]) -> bool:
    return all(_CHECKS[word](value, schema[word], schema) for word in schema if word in _CHECKS)


def _type(value: Any, types: Any, schema: dict[str, Any]) -> bool:
    names = types if isinstance(types, list) else [types]
    return any(isinstance(value, _TYPES[name]) and not isinstance(value, bool) for name in names)


def _additional(value: Any, rest: Any, schema: dict[str, Any]) -> bool:
    others = [item for name, item in value.items() if name not in schema.get("properties", {})]
    return not others if rest is False else all(fits(item, rest) for item in others)


_CHECKS = {
    "type": _type,
    "enum": lambda value, words, schema: value in words,
    "const": lambda value, constant, schema: value == constant,
    "pattern": lambda value, pattern, schema: re.search(pattern, value) is not None,
    "properties": lambda value, shapes, schema: all(
        fits(value[name], shapes[name]) for name in shapes if name in value
    ),
    "additionalProperties": _additional,
    "propertyNames": lambda value, shape, schema: all(fits(name, shape) for name in value),
    "required": lambda value, names, schema: all(name in value for name in names),
    "items": lambda value, shape, schema: all(fits(item, shape) for item in value),
    "anyOf": lambda value, shapes, schema: any(fits(value, shape) for shape in shapes),
    "oneOf": lambda value, shapes, schema: sum(fits(value, shape) for shape in shapes) == 1,
}
