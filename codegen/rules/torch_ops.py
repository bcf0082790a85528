"""E2xx and W5xx: what an entry names, held against torch's own list of operators."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.diagnostics import Diagnostic, did_you_mean
from codegen.rules.registry import Context, rule
from codegen.spec.model import Entry
from codegen.torch_schema import custom_overload


@rule("E201")
def no_such_overload(context: Context) -> Iterator[Diagnostic]:
    """The op does not exist in the installed torch.

    An entry names an overload: `add.Tensor`, not `add`, where torch has several. A custom op gives its whole schema, in
    the namespace tpu: `custom: tpu::scale(Tensor self, float factor) -> Tensor`. The same goes for the overloads that
    `variants` and `native` mention: they are members of the entry's group.
    """
    torch = context.torch
    for entry in context.document.entries:
        if entry.custom:
            yield from _custom(entry)
            continue
        if entry.op not in torch.overloads:
            base, guess = entry.op.split(".")[0], did_you_mean(entry.op, torch.overloads)
            overloads = torch.authors(base)
            message = f"'aten::{entry.op}' is not an operator of torch {torch.release}{guess}"
            help = f"overloads of {base}: {', '.join(overloads)}" if overloads else None
            yield Diagnostic("E201", entry.at(), message, help)
    for name in context.document.excluded.reasons:
        if name not in torch.overloads:
            message = f"'aten::{name}' is not an operator of torch {torch.release}{did_you_mean(name, torch.overloads)}"
            yield Diagnostic("E201", context.document.excluded.at(name), message)
    for entry, group in context.known:
        members = [member.name for member in group.members]
        mentioned = {
            ("variants", "except", i): name for i, name in enumerate(entry.variants.excluded if entry.variants else ())
        }
        mentioned |= {("native", name): name for name in entry.native or {} if name}
        for path, name in mentioned.items():
            if name not in members:
                span = entry.at(*path) if path[0] == "variants" else entry.key_at(*path)
                message = f"'{name}' is not a member of the group of {entry.name}{did_you_mean(name, members)}"
                yield Diagnostic("E201", span, message, f"members: {', '.join(members)}")


def _custom(entry: Entry) -> Iterator[Diagnostic]:
    try:
        custom_overload(entry.custom)
    except Exception as error:  # torchgen asserts as well as raises; either way its words are the explanation
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        help = "such as: tpu::scale(Tensor self, float factor) -> Tensor"
        yield Diagnostic("E201", entry.at(), f"this is not the schema of a custom op: {said}", help)


@rule("E202")
def derived_variant(context: Context) -> Iterator[Diagnostic]:
    """The op is a variant of another: its in-place or out= form.

    One entry serves a whole group. It names the functional member (or, where only the in-place one was written by hand,
    as `uniform_`, that one), and all others are derived from it.
    """
    lines = {entry.op: entry.line for entry in context.document.entries if entry.op}
    for entry in context.document.entries:
        group = context.torch.groups.get(entry.op or "")
        if group is None or group.author.name == entry.op:
            continue
        author = group.author.name
        members = ", ".join(member.name for member in group.members)
        help = (
            f"already covered by the entry at line {lines[author]}; delete this one"
            if author in lines
            else f"write 'op: {author}'; it registers {members}"
        )
        yield Diagnostic("E202", entry.at(), f"'{entry.op}' is a variant torch derives from '{author}'", help)


@rule("E203")
def listed_twice(context: Context) -> Iterator[Diagnostic]:
    """Two entries for the same op, or an entry for one that `excluded` says gets none. Only one of them can be true."""
    first: dict[str, Entry] = {}
    for entry in context.document.entries:
        if first.setdefault(entry.name, entry) is not entry:
            message = f"'{entry.name}' is listed twice (first at line {first[entry.name].line})"
            yield Diagnostic("E203", entry.at(), message, "keep one of the two")
        if entry.op in context.document.excluded.reasons:
            line = context.document.excluded.at(entry.op).line + 1
            message = f"'{entry.op}' has an entry, but 'excluded' says that it gets none (line {line})"
            yield Diagnostic("E203", entry.at(), message, "keep one of the two")


@rule("E204")
def loses_autograd(context: Context) -> Iterator[Diagnostic]:
    """A kernel for this op would silently detach it from autograd.

    A CompositeImplicit op is differentiated through the ops that it is composed of. A kernel of our own runs below
    autograd, so that nothing of them is recorded: the result would have no grad_fn. (An op with a derivative formula is
    safe.) Give entries to what it calls instead; torch composes the rest. Where one program matters, `autograd:` gives
    the op a formula of its own; torch's composition still serves forward mode and double backward. An op that torch has
    a formula for needs none. An entry that leaves the op itself alone (`variants: {except: ...}`) may give its out= form a
    kernel, which nobody differentiates.
    """
    for entry, group in context.known:
        formula = context.torch.differentiable(group) or group.author.structured
        if entry.autograd and formula:
            message = f"torch differentiates '{entry.name}' itself: a formula of its own would hide torch's"
            yield Diagnostic("E204", entry.key_at("autograd"), message, "delete autograd")
        returns_tensors = any("Tensor" in kind for kind in group.author.return_types)
        left_to_torch = entry.variants is not None and entry.name in entry.variants.excluded
        keeps = formula or entry.autograd or left_to_torch or not returns_tensors
        if group.author.composite_implicit and not keeps:
            message = (
                f"'{entry.name}' is CompositeImplicit without a derivative formula: a kernel would lose its autograd"
            )
            help = "give entries to the ops that it calls, which torch composes it of, or a formula under 'autograd'"
            yield Diagnostic("E204", entry.at(), message, help)


@rule("E205")
def torch_pin(context: Context) -> Iterator[Diagnostic]:
    """The file was written for another minor version of torch.

    Schemas, groups and derivatives change between minor versions. Run the tests against the new one, then change the
    pin.
    """
    pin, release = context.document.torch, context.torch.release
    if pin is not None and pin.split(".")[:2] != release.split("."):
        message = f"the entries are for torch {pin}, but torch {release} is installed"
        yield Diagnostic(
            "E205",
            context.document.torch_span,
            message,
            f"install torch {pin}, or review the entries and change the pin",
        )


@rule("W501")
def backward_without_entry(context: Context) -> Iterator[Diagnostic]:
    """The derivative of an op calls an op that has no entry.

    Training through it falls back to the CPU. Only ops that need a kernel count: torch composes the others.
    """
    listed = {member.name for _, group in context.known for member in group.members}
    for entry, group in context.known:
        for base in context.torch.derivative_calls(group):
            groups = context.torch.named(base)
            needing = [g for g in groups if g.needs_kernel and not g.author.is_view]
            if len(needing) == len(groups) and not any(m.name in listed for g in groups for m in g.members):
                help = f"tools/regen new {needing[0].author.name}"
                yield Diagnostic(
                    "W501", entry.at(), f"the derivative of {entry.name} calls '{base}', which has no entry", help
                )
