"""Brings a folder to a set of files: changed ones are replaced whole, unchanged ones keep their time, others go."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path

from codegen.manifest import NAME as MANIFEST


def read_tree(folder: Path) -> dict[str, str]:
    """What is there now; caches of Python are nobody's output."""
    paths = (p for p in sorted(folder.rglob("*")) if p.is_file() and "__pycache__" not in p.parts)
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def write_tree(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Writes what differs and deletes what is stale; returns the paths touched.

    Everything is put beside its place first and renamed afterwards, the manifest last: an interruption leaves either
    the old tree, or one whose manifest says that it is stale.
    """
    present = read_tree(folder) if folder.exists() else {}
    changed = [path for path, text in files.items() if present.get(path) != text]
    changed.sort(key=lambda path: path == MANIFEST)
    stale = [path for path in present if path not in files]
    staged = []
    try:
        for path in changed:
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            beside = target.with_name(f".{target.name}.new")
            staged.append((beside, target))
            beside.write_text(files[path], encoding="utf-8")
    except BaseException:
        for beside, _ in staged:
            beside.unlink(missing_ok=True)
        raise
    for path in stale:
        (folder / path).unlink()
    for beside, target in staged:
        os.replace(beside, target)
    return changed + stale


def diff(folder: Path, files: Mapping[str, str]) -> list[str]:
    """A unified diff from what is there to what should be, one text per file."""
    present = read_tree(folder) if folder.exists() else {}
    diffs = []
    for path in sorted({*present, *files}):
        old, new = present.get(path, ""), files.get(path, "")
        if old != new:
            lines = difflib.unified_diff(
                old.splitlines(),
                new.splitlines(),
                f"{folder.name}/{path}",
                f"{folder.name}/{path} (new)",
                lineterm="",
                n=1,
            )
            diffs.append("\n".join(lines))
    return diffs
