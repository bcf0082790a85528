"""E0xx and E1xx: the form of the file, whatever torch says."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.diagnostics import Diagnostic, did_you_mean, listing, nearest
from codegen.rules.autocast import needless_or_unsafe
from codegen.rules.registry import Context, rule
from codegen.spec.fields import STRATEGIES
from codegen.spec.model import Entry


@rule("E001")
def syntax(context: Context) -> Iterator[Diagnostic]:
    """The file is not YAML, or a mapping has the same key twice.

    YAML keeps the last of two equal keys and says nothing, so that the line that one reads need not be the one that
    counts. Keep one of them.
    """
    for misfit in context.document.misfits:
        if misfit.kind == "syntax":
            yield Diagnostic("E001", misfit.span, f"this is not YAML: {misfit.detail}")
        elif misfit.kind == "duplicate":
            message = f"duplicate key '{misfit.word}' in {misfit.where} (first at line {misfit.detail})"
            yield Diagnostic("E001", misfit.span, message, "keep one of the two")


@rule("E101")
def unknown_field(context: Context) -> Iterator[Diagnostic]:
    """A key that no field of an entry has.

    The fields are listed at the end of generated/OPS.md; generated/ops.schema.json lets an editor complete them.
    """
    for misfit in context.document.misfits:
        if misfit.kind == "unknown":
            guess = did_you_mean(misfit.word, misfit.choices)
            help = None if guess else "fields: " + ", ".join(misfit.choices)
            yield Diagnostic("E101", misfit.span, f"unknown field '{misfit.word}' in {misfit.where}{guess}", help)


@rule("E102")
def wrong_value(context: Context) -> Iterator[Diagnostic]:
    """A value of the wrong form, or a word that is not among those that the field takes.

    `autocast` of ATen's ops takes only what differs from ATen's lists: what these say is derived.
    """
    for misfit in context.document.misfits:
        if misfit.kind == "word":
            guess = did_you_mean(misfit.word, misfit.choices)
            message = f"'{misfit.word}' is not a value of {misfit.where}{guess}"
            yield Diagnostic("E102", misfit.span, message, f"write {misfit.detail}")
        elif misfit.kind == "value":
            yield Diagnostic(
                "E102", misfit.span, f"{misfit.where} cannot be {_article(misfit.word)}", f"write {misfit.detail}"
            )
        elif misfit.kind == "missing":
            yield Diagnostic("E102", misfit.span, f"{misfit.where} lacks {misfit.word}", f"write {misfit.detail}")
    for entry in context.document.entries:
        if (entry.custom or entry.pallas) and not entry.doc:
            message = f"op '{entry.name}' needs a 'doc': one sentence on what it is for"
            yield Diagnostic("E102", entry.at(), message, "nothing else describes a custom op or a kernel")
        if entry.promote and entry.promote.args is not None and len(_promotions(entry)) > 1:
            yield Diagnostic("E102", entry.at("promote"), f"op '{entry.name}' promotes in two ways", "keep one")
        if entry.dtypes and entry.native:
            message = f"'dtypes' of op '{entry.name}' would have no effect: what is native decides for itself"
            yield Diagnostic("E102", entry.key_at("dtypes"), message, "check them in the C++ function")
        if entry.dtypes and not entry.dtypes.only:
            message = f"'dtypes' of op '{entry.name}' leaves nothing to the device"
            yield Diagnostic("E102", entry.at("dtypes"), message, "name those that it takes, or delete the entry")
    yield from needless_or_unsafe(context)


def _article(word: str) -> str:
    return word if word in ("a list", "a mapping") else f"'{word}'"


def _promotions(entry: Entry) -> list[str]:
    return [path[1] for path in entry.marks.keys if len(path) == 2 and path[0] == "promote"]


@rule("E103")
def one_implementation(context: Context) -> Iterator[Diagnostic]:
    """An entry with no implementation, or with two.

    Exactly one strategy says how an op is computed: lowering, expr, vjp, decompose, pallas or native.
    """
    unknown = [misfit for misfit in context.document.misfits if misfit.kind == "unknown"]
    for entry in context.document.entries:
        given = [name for name in entry.written if name in STRATEGIES]
        if len(given) > 1:
            message = f"op '{entry.name}' has {len(given)} implementations: {listing(given)}"
            yield Diagnostic("E103", entry.key_at(given[1]), message, f"keep exactly one of: {', '.join(STRATEGIES)}")
        misspelt = any(m.where == f"op '{entry.name}'" and nearest(m.word, STRATEGIES) for m in unknown)
        if not given and not misspelt:
            message = f"op '{entry.name}' has no implementation"
            yield Diagnostic("E103", entry.at(), message, f"add exactly one of: {', '.join(STRATEGIES)}")
