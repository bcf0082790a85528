"""A second copy of this tree to try things in. It borrows .venv and keeps its own build between runs."""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRATCH = ROOT / ".build" / "scratch"
# Made by tools/setup and by running things: every tree has its own.
OWN = {".venv", ".build", ".git", ".hypothesis", "__pycache__", "dist"}


def scratch_tree() -> Path:
    """Brings the copy up to date. Files that are equal keep their times, so that its build is incremental."""
    sources = _files(ROOT)
    copies = _files(SCRATCH) if SCRATCH.exists() else set()
    for name in sources:
        source, copy = ROOT / name, SCRATCH / name
        if name not in copies or source.read_bytes() != copy.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
            shutil.copymode(source, copy)
    for name in copies - sources:
        (SCRATCH / name).unlink()
    environment = SCRATCH / ".venv"
    if not environment.is_symlink():
        environment.symlink_to((ROOT / ".venv").resolve())
    return SCRATCH


def _files(root: Path) -> set[Path]:
    found: set[Path] = set()
    folders = [root]
    while folders:
        for path in folders.pop().iterdir():
            if path.name in OWN or path.is_symlink() or path.suffix == ".so":
                continue
            folders.append(path) if path.is_dir() else found.add(path.relative_to(root))
    return found
