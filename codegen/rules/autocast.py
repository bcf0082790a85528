"""The part of E102 that is about `autocast`, whose values depend on the op."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.diagnostics import Diagnostic, listing
from codegen.rules.registry import Context
from codegen.spec.fields import POLICIES


def needless_or_unsafe(context: Context) -> Iterator[Diagnostic]:
    for entry, group in context.known:
        if not entry.autocast:
            continue
        policy, listed = entry.autocast.policy, context.torch.autocast.get(entry.op or "", "fallthrough")
        at, what = entry.at("autocast"), f"'{policy}' is not a value of 'autocast' of op '{entry.name}'"
        written = [argument.name for argument in group.author.arguments if argument.written]
        if entry.op and policy == listed:
            others = ", ".join(other for other in POLICIES if other != listed)
            said = "its list says so" if entry.op in context.torch.autocast else "none of its lists has the op"
            yield Diagnostic("E102", at, f"{what}: ATen does the same, {said}", f"delete it, or write one of {others}")
        elif written and policy != "fallthrough":
            message = f"{what}: what is written to a cast of {listing(written)} would be lost"
            yield Diagnostic("E102", at, message, "write fallthrough, or make the op functional")
