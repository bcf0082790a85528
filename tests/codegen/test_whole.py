"""The real ops.yaml leaves out nothing that torch's CPU computes."""

from pathlib import Path

from codegen.spec import loader
from codegen.torch_schema import torch_schema

ROOT = Path(__file__).resolve().parents[2]


def test_what_the_cpu_computes_has_an_entry_or_a_reason_why_not() -> None:
    document = loader.load(ROOT / "ops.yaml")
    named = {entry.op for entry in document.entries} | set(document.excluded.reasons)
    groups = [group for group in torch_schema().groups.values() if group.on_cpu]
    authors = {group.author.name for group in groups if not group.author.composite_implicit}
    assert sorted(authors - named) == []


def test_what_is_excluded_is_what_the_cpu_computes() -> None:
    document, groups = loader.load(ROOT / "ops.yaml"), torch_schema().groups
    assert [name for name in document.excluded.reasons if groups[name].author.name != name] == []
