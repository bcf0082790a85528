"""MANIFEST.json, and how a stale tree is told."""

import subprocess
import sys
from pathlib import Path

import pytest

from codegen import manifest
from codegen.emit.writer import write_tree

SPEC = "ops: []\n"
OUTPUTS = {"csrc/a.cpp": "int a;\n", "OPS.md": "# ops\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree that is up to date."""
    (tmp_path / "codegen" / "templates").mkdir(parents=True)
    (tmp_path / "codegen" / "a.py").write_text("a = 1\n")
    (tmp_path / "codegen" / "templates" / "a.jinja").write_text("a\n")
    (tmp_path / "ops.yaml").write_text(SPEC)
    text = manifest.manifest(SPEC, manifest.codegen_hash(tmp_path), {"a": "derived"}, OUTPUTS)
    write_tree(tmp_path / "generated", {**OUTPUTS, manifest.NAME: text})
    return tmp_path


def test_up_to_date(root: Path) -> None:
    assert manifest.stale(root) == []


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("ops.yaml", "ops.yaml has changed since generated/ was written"),
        ("codegen/a.py", "codegen/ has changed since generated/ was written"),
        ("codegen/templates/a.jinja", "codegen/ has changed since generated/ was written"),
        ("generated/csrc/a.cpp", "generated/csrc/a.cpp was edited"),
        ("generated/MANIFEST.json", "generated/MANIFEST.json cannot be read"),
    ],
)
def test_stale_after_an_edit(root: Path, path: str, reason: str) -> None:
    with (root / path).open("a") as file:
        file.write("more\n")
    assert manifest.stale(root) == [reason]


@pytest.mark.parametrize("path", ["ops.yaml", "generated/csrc/a.cpp", "generated/MANIFEST.json"])
def test_stale_without_a_file(root: Path, path: str) -> None:
    (root / path).unlink()
    (reason,) = manifest.stale(root)
    assert reason.endswith("is missing")


def test_stale_after_a_rename_inside_codegen(root: Path) -> None:
    (root / "codegen" / "a.py").rename(root / "codegen" / "b.py")
    assert manifest.stale(root)


def test_refusal_needs_nothing_but_python(root: Path) -> None:
    """The build runs the file as a script: one line that says what to do, exit 1."""

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-I", "-S", manifest.__file__, root], capture_output=True, text=True)

    assert (run().returncode, run().stderr) == (0, "")
    (root / "ops.yaml").write_text("ops: [1]\n")
    refused = run()
    assert refused.returncode == 1
    assert refused.stderr == "generated/ is stale: ops.yaml has changed since generated/ was written; run tools/regen\n"
