"""Reads ops.yaml with marks: a broken file still yields everything in it that can be read."""

from __future__ import annotations

from pathlib import Path

import yaml

from codegen.diagnostics import Source, Span
from codegen.spec.fields import DOCUMENT_KEYS, ENTRY, EXCLUDED
from codegen.spec.model import Document, Entry, Excluded, Marks, Misfit
from codegen.spec.shapes import Reader, pairs, span_of


def load(path: Path, name: str | None = None) -> Document:
    name = name or path.name
    try:
        return parse(path.read_text(encoding="utf-8"), name)
    except UnicodeDecodeError as error:
        return Document(Source(name, ""), misfits=(Misfit("syntax", Span(0, 0), "", detail=str(error)),))


def parse(text: str, name: str = "ops.yaml") -> Document:
    source = Source(name, text)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join(part for part in (error.problem, error.context) if part)
        return Document(source, misfits=(Misfit("syntax", Span(mark.line, mark.column), "", detail=said),))
    except yaml.YAMLError as error:
        return Document(source, misfits=(Misfit("syntax", Span(0, 0), "", detail=str(error).splitlines()[0]),))
    reader = Reader("the file")
    top = _top_level(root, reader)
    torch, ops = top.get("torch"), top.get("ops")
    entries, misfits = [], list(reader.misfits)
    for node in ops.value if ops else ():
        entry, found = _entry(node)
        misfits += found
        if entry:
            entries.append(entry)
    excluded, found = _excluded(top.get("excluded"))
    pin, span = (torch.value, span_of(torch)) if torch else (None, Span(0, 0))
    return Document(source, pin, span, tuple(entries), excluded, (*misfits, *found))


def _top_level(root: yaml.Node | None, reader: Reader) -> dict[str, yaml.Node]:
    """The keys of the file, where they have the right form."""
    root = root or yaml.MappingNode("tag:yaml.org,2002:map", [], _START, _START)
    if not isinstance(root, yaml.MappingNode):
        reader.expected("a mapping with " + ", ".join(DOCUMENT_KEYS), root, ())
        return {}
    top: dict[str, yaml.Node] = {}
    for key, value in pairs(root, (), reader):
        if key.value not in DOCUMENT_KEYS:
            reader.misfit("unknown", key, (), DOCUMENT_KEYS)
        elif not isinstance(value, DOCUMENT_KEYS[key.value].node):
            reader.expected(DOCUMENT_KEYS[key.value].expects, value, (key.value,))
        else:
            top[key.value] = value
    missing = [name for name, key in DOCUMENT_KEYS.items() if key.required and (name,) not in reader.keys]
    if missing:
        expects = "; ".join(f"{name}: {DOCUMENT_KEYS[name].expects}" for name in missing)
        reader.missing(missing, root, (), expects)
    return top


_START = yaml.Mark("", 0, 0, 0, None, None)


def _excluded(node: yaml.Node | None) -> tuple[Excluded, list[Misfit]]:
    if node is None:
        return Excluded(), []
    reader = Reader("'excluded'")
    reasons = EXCLUDED.read(node, (), reader)
    return Excluded(reasons, Marks(reader.keys, reader.values)), reader.misfits


def _entry(node: yaml.Node) -> tuple[Entry | None, list[Misfit]]:
    name = _name(node)
    reader = Reader(f"op '{name}'" if name else "an entry")
    values = ENTRY.read(node, (), reader)
    if not isinstance(values, dict):
        return None, reader.misfits
    if ("op",) not in reader.keys and ("custom",) not in reader.keys:
        reader.missing(["op"], node, (), "op, the name of an overload, or custom, the schema of a new op")
    elif ("op",) in reader.keys and ("custom",) in reader.keys:
        reader.expected("either 'op' or 'custom'", node, ())
    values = {field: value for field, value in values.items() if value is not None}  # `promote: {}` says nothing
    written = tuple(path[0] for path in reader.keys if len(path) == 1)
    entry = Entry(**values, written=written, marks=Marks(reader.keys, reader.values), span=span_of(node))
    return (entry if entry.op or entry.custom else None), reader.misfits


def _name(node: yaml.Node) -> str | None:
    """What messages call the entry."""
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if key.value in ("op", "custom") and isinstance(value, yaml.ScalarNode):
            return value.value.split("(")[0]
    return None
