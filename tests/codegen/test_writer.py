"""Writing a tree: what is equal is left alone, what is stale goes, and a failure leaves no half."""

import os
from pathlib import Path

import pytest

from codegen.emit import writer
from codegen.manifest import NAME

FILES = {"csrc/a.cpp": "a\n", "b.py": "b\n", NAME: "{}\n"}


def test_changes_only_what_differs(tmp_path: Path) -> None:
    assert sorted(writer.write_tree(tmp_path, FILES)) == sorted(FILES)
    (tmp_path / "old.py").write_text("old\n")
    for path in FILES:
        os.utime(tmp_path / path, (1, 1))
    assert writer.write_tree(tmp_path, {**FILES, "b.py": "c\n"}) == ["b.py", "old.py"]
    assert writer.read_tree(tmp_path) == {**FILES, "b.py": "c\n"}
    assert (tmp_path / "csrc/a.cpp").stat().st_mtime == 1
    assert writer.write_tree(tmp_path, {**FILES, "b.py": "c\n"}) == []


def test_failing_to_write_changes_nothing(tmp_path: Path) -> None:
    writer.write_tree(tmp_path, FILES)
    (tmp_path / "blocked").write_text("a file where a folder should be\n")
    before = writer.read_tree(tmp_path)
    with pytest.raises(OSError):
        writer.write_tree(tmp_path, {"b.py": "changed\n", "blocked/c.py": "c\n", NAME: "new\n"})
    assert writer.read_tree(tmp_path) == before


def test_an_interruption_leaves_the_old_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer.write_tree(tmp_path, FILES)
    replace = os.replace

    def interrupted(source: Path, target: Path) -> None:
        if target.name == NAME:
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        writer.write_tree(tmp_path, {path: "new\n" for path in FILES})
    assert (tmp_path / NAME).read_text() == "{}\n"  # which tells the build that the rest is stale


def test_diff(tmp_path: Path) -> None:
    writer.write_tree(tmp_path, FILES)
    assert writer.diff(tmp_path, FILES) == []
    (changed,) = writer.diff(tmp_path, {**FILES, "b.py": "c\n"})
    assert changed.splitlines()[-2:] == ["-b", "+c"]
