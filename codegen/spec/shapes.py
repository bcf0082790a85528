"""The shapes that a value in ops.yaml can have. Each reads a YAML node, and describes itself to JSON Schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import yaml

from codegen.diagnostics import Span, listing
from codegen.spec.model import Misfit, Path

UNFIT = object()  # what a node that does not fit is read as


def span_of(node: yaml.Node) -> Span:
    """Of a scalar its text; of anything longer than a line, what stands on its first line."""
    start, end = node.start_mark, node.end_mark
    width = end.column - start.column if end.line == start.line else 1 << 16
    return Span(start.line, start.column, max(1, width))


class Reader:
    """Collects, while shapes read: where everything stands, and what does not fit. `where` names what is being read."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.keys: dict[Path, Span] = {}
        self.values: dict[Path, Span] = {}
        self.misfits: list[Misfit] = []

    def misfit(self, kind: str, node: yaml.Node, path: Path, choices: tuple[str, ...] = (), detail: str = "") -> Any:
        word = node.value if isinstance(node, yaml.ScalarNode) else _KINDS[type(node)]
        self.misfits.append(Misfit(kind, span_of(node), word, self.place(path), choices, detail))
        return UNFIT

    def expected(self, what: str, node: yaml.Node, path: Path) -> Any:
        return self.misfit("value", node, path, detail=what)

    def missing(self, names: Sequence[str], node: yaml.Node, path: Path, detail: str = "") -> Any:
        self.misfits.append(Misfit("missing", span_of(node), listing(names), self.place(path), detail=detail))
        return UNFIT

    def place(self, path: Path) -> str:
        """`'tol' of op 'mm'`; items of a list are named after it."""
        names = [part for part in path if isinstance(part, str)]
        return f"'{names[-1]}' of {self.where}" if names else self.where


_KINDS = {yaml.MappingNode: "a mapping", yaml.SequenceNode: "a list"}


def kind_of(node: yaml.Node) -> str:
    return node.tag.rsplit(":", 1)[-1]


class Shape(Protocol):
    expects: str

    def fits(self, node: yaml.Node) -> bool:
        """Whether this is the alternative meant: the kind of node, not its contents."""

    def read(self, node: yaml.Node, path: Path, reader: Reader) -> Any: ...

    def json_schema(self) -> dict[str, Any]: ...


def pairs(node: yaml.MappingNode, path: Path, reader: Reader) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
    """The entries of a mapping, each key once; marks them and reports the duplicates."""
    seen: dict[str, yaml.Node] = {}
    kept = []
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            reader.expected("a key that is plain text", key, path)
        elif key.value in seen:
            reader.misfit("duplicate", key, path, detail=str(seen[key.value].start_mark.line + 1))
        else:
            seen[key.value] = key
            reader.keys[(*path, key.value)] = span_of(key)
            kept.append((key, value))
    return kept


@dataclass(frozen=True)
class Text:
    expects: str = "text"

    def fits(self, node: yaml.Node) -> bool:
        return isinstance(node, yaml.ScalarNode) and kind_of(node) != "null"

    def read(self, node: yaml.Node, path: Path, reader: Reader) -> Any:
        reader.values[path] = span_of(node)
        return node.value if self.fits(node) else reader.expected(self.expects, node, path)

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string"}


@dataclass(frozen=True)
class Choice:
    """One of a few words, or a word with one of a few prefixes ("fix:")."""

    words: tuple[str, ...]
    prefixes: tuple[str, ...] = ()

    @property
    def expects(self) -> str:
        return "one of " + ", ".join(self.words + tuple(f"{p}<name>" for p in self.prefixes))

    def fits(self, node: yaml.Node) -> bool:
        return isinstance(node, yaml.ScalarNode)

    def read(self, node: yaml.Node, path: Path, reader: Reader) -> Any:
        reader.values[path] = span_of(node)
        if not self.fits(node):
            return reader.expected(self.expects, node, path)
        if node.value in self.words or any(node.value.startswith(prefix) for prefix in self.prefixes):
            return node.value
        return reader.misfit("word", node, path, self.words, self.expects)

    def json_schema(self) -> dict[str, Any]:
        words: dict[str, Any] = {"enum": list(self.words)}
        patterns = [{"type": "string", "pattern": f"^{prefix}"} for prefix in self.prefixes]
        return {"anyOf": [words, *patterns]} if patterns else words


@dataclass(frozen=True)
class Yes:
    """A flag that is written only to say true."""

    expects: str = "true"

    def fits(self, node: yaml.Node) -> bool:
        return isinstance(node, yaml.ScalarNode)

    def read(self, node: yaml.Node, path: Path, reader: Reader) -> Any:
        reader.values[path] = span_of(node)
        fits = kind_of(node) == "bool" and node.value.lower() in ("true", "yes", "on")
        return True if fits else reader.misfit("word", node, path, ("true",), self.expects)

    def json_schema(self) -> dict[str, Any]:
        return {"const": True}


@dataclass(frozen=True)
class Number:
    expects: str = "a number"

    def fits(self, node: yaml.Node) -> bool:
        return isinstance(node, yaml.ScalarNode)

    def read(self, node: yaml.Node, path: Path, reader: Reader) -> Any:
        reader.values[path] = span_of(node)
        try:
            value = float(node.value)  # YAML reads 1e-5 as text, Python as the number that its author meant
        except (TypeError, ValueError):
            return reader.expected(self.expects, node, path)
        return int(value) if value.is_integer() and "." not in node.value and "e" not in node.value.lower() else value

    def json_schema(self) -> dict[str, Any]:
        return {"type": ["number", "string"]}


@dataclass(frozen=True)
class Many:
    """A list."""

    item: Shape

    @property
    def expects(self) -> str:
        return f"a list, each {self.item.expects}"

    def fits(self, node: yaml.Node) -> bool:
        return isinstance(node, yaml.SequenceNode)

    def read(self, node: yaml.Node, path: Path, reader: Reader) -> Any:
        reader.values[path] = span_of(node)
        if not self.fits(node):
            return reader.expected(self.expects, node, path)
        items = (self.item.read(child, (*path, i), reader) for i, child in enumerate(node.value))
        return tuple(item for item in items if item is not UNFIT)

    def json_schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.item.json_schema()}


@dataclass(frozen=True)
class OneOrMany(Many):
    """A list, or its only item."""

    @property
    def expects(self) -> str:
        return f"{self.item.expects}, or a list of them"

    def fits(self, node: yaml.Node) -> bool:
        return super().fits(node) or self.item.fits(node)

    def read(self, node: yaml.Node, path: Path, reader: Reader) -> Any:
        if super().fits(node):
            return super().read(node, path, reader)
        item = self.item.read(node, path, reader)
        return UNFIT if item is UNFIT else (item,)

    def json_schema(self) -> dict[str, Any]:
        return {"anyOf": [self.item.json_schema(), super().json_schema()]}


@dataclass(frozen=True)
class Table:
    """A mapping from names that the author chooses."""

    item: Shape
    names: tuple[str, ...] = ()  # the names to choose from, if they are limited

    @property
    def expects(self) -> str:
        return f"a mapping from names to {self.item.expects}"

    def fits(self, node: yaml.Node) -> bool:
        return isinstance(node, yaml.MappingNode)

    def read(self, node: yaml.Node, path: Path, reader: Reader) -> Any:
        reader.values[path] = span_of(node)
        if not self.fits(node):
            return reader.expected(self.expects, node, path)
        table = {}
        for key, child in pairs(node, path, reader):
            if self.names and key.value not in self.names:
                reader.misfit("unknown", key, path, self.names)
                continue
            value = self.item.read(child, (*path, key.value), reader)
            if value is not UNFIT:
                table[key.value] = value
        return table

    def json_schema(self) -> dict[str, Any]:
        names = {"propertyNames": {"enum": list(self.names)}} if self.names else {}
        return {"type": "object", "additionalProperties": self.item.json_schema(), **names}


@dataclass(frozen=True)
class Record:
    """A mapping with known fields, made into an object of the model."""

    fields: Mapping[str, Shape]
    required: tuple[str, ...] = ()
    make: Callable[..., Any] = dict
    rename: Mapping[str, str] = field(
        default_factory=dict
    )  # YAML's name: the model's, where Python reserves the former

    @property
    def expects(self) -> str:
        return "a mapping with " + ", ".join(self.fields)

    def fits(self, node: yaml.Node) -> bool:
        return isinstance(node, yaml.MappingNode)

    def read(self, node: yaml.Node, path: Path, reader: Reader) -> Any:
        reader.values[path] = span_of(node)
        if not self.fits(node):
            return reader.expected(self.expects, node, path)
        values = {}
        for key, child in pairs(node, path, reader):
            shape = self.fields.get(key.value)
            if shape is None:
                reader.misfit("unknown", key, path, tuple(self.fields))
                continue
            value = shape.read(child, (*path, key.value), reader)
            if value is not UNFIT:
                values[self.rename.get(key.value, key.value)] = value
        missing = [name for name in self.required if (*path, name) not in reader.keys]
        if missing:
            return reader.missing(missing, node, path, self.expects)
        broken = [name for name in self.required if self.rename.get(name, name) not in values]
        return UNFIT if broken else self.make(**values)

    def json_schema(self) -> dict[str, Any]:
        properties = {name: shape.json_schema() for name, shape in self.fields.items()}
        required = {"required": list(self.required)} if self.required else {}
        return {"type": "object", "properties": properties, "additionalProperties": False, **required}


@dataclass(frozen=True)
class Either:
    """One of several shapes, told apart by the kind of node, each brought to the same form by its `make`."""

    options: tuple[tuple[Shape, Callable[[Any], Any]], ...]

    @property
    def expects(self) -> str:
        return "; or ".join(shape.expects for shape, _ in self.options)

    def fits(self, node: yaml.Node) -> bool:
        return any(shape.fits(node) for shape, _ in self.options)

    def read(self, node: yaml.Node, path: Path, reader: Reader) -> Any:
        for shape, make in self.options:
            if shape.fits(node):
                value = shape.read(node, path, reader)
                return UNFIT if value is UNFIT else make(value)
        return reader.expected(self.expects, node, path)

    def json_schema(self) -> dict[str, Any]:
        return {"anyOf": [shape.json_schema() for shape, _ in self.options]}
