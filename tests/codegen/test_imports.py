"""Imports point one way: codegen needs no built extension, and torch itself only where lowerings are run."""

import ast
from collections.abc import Iterator
from pathlib import Path

CODEGEN = Path(__file__).resolve().parents[2] / "codegen"


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_codegen_imports_nothing_of_the_product() -> None:
    for path in CODEGEN.rglob("*.py"):
        assert not [name for name in _imported(path) if name.split(".")[0] == "torchtpu"], path


def test_torch_is_imported_by_probes_only() -> None:
    users = {
        p.relative_to(CODEGEN).as_posix()
        for p in CODEGEN.rglob("*.py")
        if "torch" in {n.split(".")[0] for n in _imported(p)}
    }
    assert {path for path in users if not path.startswith("probe/")} == {"scaffold.py"}


def test_torchgen_has_one_door() -> None:
    users = {p.name for p in CODEGEN.rglob("*.py") if any(n.startswith("torchgen") for n in _imported(p))}
    assert users == {"torch_schema.py"}
