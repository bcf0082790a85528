"""What `pip install .` installs: a tree that works away from this one."""

import subprocess
import zipfile
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as the README says; the build folder is kept, so that only the first one compiles everything."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [root / ".venv/bin/python", "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--quiet"]
    subprocess.run([*command, f"--config-settings=build-dir={root}/.build/wheel", "-w", folder, root], check=True)
    (built,) = folder.iterdir()
    return built


def test_what_a_wheel_holds(root: Path, wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    (extension,) = [name for name in names if name.endswith(".so")]
    assert extension.startswith("torchtpu/_C.")
    assert str(root).encode() not in archive.read(extension)
    assert {"torchtpu/__init__.py", "torchtpu/generated/__init__.py", "torchtpu/lowerings/__init__.py"} <= set(names)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"torchtpu"}


def test_the_device_works_from_a_wheel(root: Path, wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    script = "import torch, torchtpu; print(torchtpu.__file__); print((torch.ones(2, device='tpu') + 1).tolist())"
    result = subprocess.run(
        [root / ".venv/bin/python", "-c", script],
        env={"PYTHONPATH": str(tmp_path / "site"), "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert result.stdout.splitlines() == [str(tmp_path / "site/torchtpu/__init__.py"), "[2.0, 2.0]"], result.stderr
