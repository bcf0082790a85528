"""Runs the generator on small specs: the families of tests/codegen/lowerings, the headers of tests/codegen/csrc."""

import textwrap
from pathlib import Path

from codegen.diagnostics import Source
from codegen.lowerings import Lowerings
from codegen.pipeline import generate
from codegen.rules import Context, check
from codegen.spec import loader
from codegen.torch_schema import torch_schema

HERE = Path(__file__).parent
SMALL = HERE / "small.yaml"
HEADER = 'torch: "2.13"\nops:\n'


def context(text: str) -> Context:
    return Context(loader.parse(text), torch_schema(), Lowerings("tests.codegen.lowerings"), HERE / "csrc")


def diagnose(entries: str, header: str = HEADER) -> str:
    """What the rules say about a spec with these entries."""
    text = header + textwrap.indent(textwrap.dedent(entries).strip("\n"), "  ") + "\n"
    found = check(context(text))
    return "\n".join(diagnostic.render(Source("ops.yaml", text)) for diagnostic in found)


def generated(text: str) -> dict[str, str]:
    """The generated files of a spec without errors."""
    made = context(text)
    errors = [d.render(made.document.source) for d in check(made) if not d.is_warning]
    assert not errors, "\n".join(errors)
    return generate(made)
