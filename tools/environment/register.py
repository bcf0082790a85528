"""Makes torchtpu an installed package of .venv without installing it: the tree on the path, and the metadata by which
`import torch` finds the device. An editable install through pip takes seconds to learn that nothing has changed."""

import tomllib
from pathlib import Path

from environment.paths import ROOT, VENV

LINK = ROOT / "torchtpu" / "generated"
LINK_TARGET = Path("../generated/lowerings")


def ensure() -> None:
    if not LINK.is_symlink() or LINK.readlink() != LINK_TARGET:
        LINK.unlink(missing_ok=True)
        LINK.symlink_to(LINK_TARGET)
    if VENV.is_symlink():  # borrowed from another tree, which is the one registered there
        return
    for path, text in _files(_site_packages()).items():
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)


def _site_packages() -> Path:
    return next((VENV / "lib").glob("python3*/site-packages"))


def _files(site: Path) -> dict[Path, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    info = site / f"{project['name']}-{project['version']}.dist-info"
    files = {
        site / f"{project['name']}.pth": f"{ROOT}\n",
        info / "METADATA": f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n",
        info / "entry_points.txt": _entry_points(project["entry-points"]),
        info / "INSTALLER": "tools/setup\n",
    }
    record = [str(path.relative_to(site)) for path in [*files, info / "RECORD"]]
    return files | {info / "RECORD": "".join(f"{name},,\n" for name in record)}


def _entry_points(groups: dict[str, dict[str, str]]) -> str:
    lines: list[str] = []
    for group, names in groups.items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in names.items())]
    return "\n".join(lines) + "\n"
