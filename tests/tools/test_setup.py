"""tools/setup: what it does with a tree in each state, and the one line that it ends with when something is missing."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement

TOOLS = Path(__file__).resolve().parents[2] / "tools"
SCRIPTS = sorted(path.name for path in TOOLS.iterdir() if path.is_file() and os.access(path, os.X_OK))


@pytest.fixture
def tree(root: Path, tmp_path: Path) -> Path:
    """What set-up reads of a tree, in another place; its environment is this one's."""
    for folder in ["tools", "csrc", "codegen"]:
        shutil.copytree(root / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "torchtpu").mkdir()
    (tmp_path / ".venv").symlink_to(root / ".venv")
    return tmp_path


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """environment.packages over an empty .venv, with every step that would change something recorded instead."""
    from environment import packages

    for name, path in {"VENV": tmp_path, "STAMP": tmp_path / "stamp", "LOG": tmp_path / "log"}.items():
        monkeypatch.setattr(packages, name, path)
    packages.steps = []
    monkeypatch.setattr(packages, "_pip", lambda what, *_: packages.steps.append("pip"))
    monkeypatch.setattr(packages, "_relative", str)
    yield packages
    del packages.steps


def run(*command: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, command)], cwd=cwd, env=os.environ | environment, capture_output=True, text=True)


def stopped_with(result: subprocess.CompletedProcess[str]) -> str:
    assert result.returncode == 1, result
    return result.stderr.splitlines()[-1]


def test_nothing_to_do_is_quick_and_quiet(root: Path) -> None:
    assert run(root / "tools/setup").returncode == 0
    start = time.monotonic()
    result = run(root / "tools/setup")
    assert time.monotonic() - start < 3
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_tool_explains_itself(root: Path, script: str) -> None:
    result = run(root / "tools" / script, "--help")
    assert result.returncode == 0 and f"tools/{script}" in result.stdout


def test_unsupported_python(tree: Path) -> None:
    (tree / ".venv").unlink()
    pretend = "import sys; sys.version_info = (3, 9, 1, 'final', 0); sys.argv = ['tools/setup']; import environment"
    result = run(sys.executable, "-c", pretend, PYTHONPATH=str(tree / "tools"))
    expected = "torchtpu: this is Python 3.9; install one of 3.11 to 3.14 and name it: python3.13 tools/setup"
    assert stopped_with(result) == expected
    assert result.stderr.count("\n") == 1


def test_no_compiler(tree: Path) -> None:
    (tree / "codegen/manifest.py").write_text("")
    line = stopped_with(run(tree / "tools/setup", CXX="no-such-compiler"))
    assert line.startswith("torchtpu: no C++ compiler (no-such-compiler): install g++ 11 or newer")


def test_wrong_torch(root: Path, tmp_path: Path) -> None:
    fake_torch(tmp_path, "2.12.1")
    line = stopped_with(run(sys.executable, root / "csrc/find_packages.py", PYTHONPATH=str(tmp_path)))
    assert line == "torchtpu needs torch 2.13.x and this Python has 2.12.1: pip install 'torch==2.13.*'"


def test_no_header(root: Path, tmp_path: Path) -> None:
    fake_torch(tmp_path, "2.13.0")
    line = stopped_with(run(sys.executable, "-S", root / "csrc/find_packages.py", PYTHONPATH=str(tmp_path)))
    assert line == "torchtpu needs the PJRT header of xla-cpu-pjrt to build: pip install xla-cpu-pjrt==0.0.1"


def fake_torch(folder: Path, version: str) -> None:
    (folder / "torch").mkdir()
    (folder / "torch/__init__.py").touch()
    info = folder / f"torch-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")


def test_stale_tree_is_not_built(tree: Path) -> None:
    bin = tree / ".venv/bin"
    folders = ["-S", tree / "csrc", "-B", tree / ".build"]
    path = f"{bin}:{os.environ['PATH']}"
    result = run(bin / "cmake", *folders, "-G", "Ninja", f"-DPython_EXECUTABLE={bin}/python", PATH=path)
    assert result.returncode == 1
    assert "generated/ is stale" in result.stderr


@pytest.mark.parametrize(
    ("module", "name", "value", "message"),
    [
        ("shutil", "disk_usage", lambda _: SimpleNamespace(free=1 << 30), "needs 6 GiB of disk and .* has 1.0"),
        ("importlib.util", "find_spec", lambda _: None, "install its venv package"),
        ("platform", "machine", lambda: "aarch64", "only Linux on x86-64 has the plugins"),
        ("platform", "libc_ver", lambda: ("glibc", "2.26"), "need glibc 2.27 or newer; this is glibc 2.26"),
        ("platform", "libc_ver", lambda: ("", ""), "need glibc 2.27 or newer; this is not glibc"),
    ],
)
def test_unfit_machine(packages, monkeypatch: pytest.MonkeyPatch, module: str, name: str, value, message: str) -> None:
    monkeypatch.setattr(packages, "_works", lambda: False)
    monkeypatch.setattr(f"{module}.{name}", value)
    with pytest.raises(SystemExit, match=message):
        packages.ensure()
    assert packages.steps == []


def test_what_pip_cannot_install(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    from environment import packages

    monkeypatch.setattr(packages, "LOG", tmp_path / "log")
    monkeypatch.setattr(packages, "_relative", lambda _: "the log")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(SystemExit, match="pip could not install the moon, see above; whole log: the log"):
        packages._pip("the moon", "--find-links", str(tmp_path), "torchtpu-no-such-package==1")
    assert "No matching distribution found for torchtpu-no-such-package==1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("stamp", "works", "steps"),
    [
        (None, False, ["create", "pip", "pip"]),
        ("incomplete", True, ["create", "pip", "pip"]),  # interrupted halfway
        ("of other requirements", True, ["pip", "pip"]),
        (None, True, ["pip", "pip"]),  # made by hand
    ],
)
def test_what_is_installed(packages, monkeypatch: pytest.MonkeyPatch, stamp: str | None, works: bool, steps) -> None:
    if stamp:
        packages.STAMP.write_text(stamp)
    monkeypatch.setattr(packages, "_works", lambda: works)
    monkeypatch.setattr(packages, "_create", lambda: packages.steps.append("create"))
    packages.ensure()
    assert packages.steps == steps
    packages.ensure()
    assert packages.steps == steps


def test_an_interrupted_installation_is_remembered(packages, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(packages, "_works", lambda: True)
    monkeypatch.setattr(packages, "_pip", interrupted)
    with pytest.raises(KeyboardInterrupt):
        packages.ensure()
    assert packages.STAMP.read_text() == packages.INCOMPLETE


def test_registration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from environment import register

    site = tmp_path / "lib/python3.11/site-packages"
    site.mkdir(parents=True)
    (tmp_path / "torchtpu").mkdir()
    monkeypatch.setattr(register, "VENV", tmp_path)
    monkeypatch.setattr(register, "LINK", tmp_path / "torchtpu/generated")
    register.ensure()
    (found,) = importlib.metadata.distributions(path=[str(site)])
    (entry,) = found.entry_points
    assert (entry.group, entry.name, entry.value) == ("torch.backends", "torchtpu", "torchtpu:_autoload")
    assert all(file.locate().exists() for file in found.files)
    assert (tmp_path / "torchtpu/generated").readlink() == Path("../generated/lowerings")
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
    register.ensure()
    assert before == {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}


def test_a_borrowed_environment_stays_registered_to_its_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from environment import register

    owner = tmp_path / "owner/lib/python3.11/site-packages"
    owner.mkdir(parents=True)
    (tmp_path / "torchtpu").mkdir()
    (tmp_path / ".venv").symlink_to(tmp_path / "owner")
    monkeypatch.setattr(register, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(register, "LINK", tmp_path / "torchtpu/generated")
    register.ensure()
    assert not list(owner.iterdir())


def test_two_set_ups_take_turns(tree: Path) -> None:
    hold = "from environment.lock import lock\nwith lock():\n    print('held', flush=True); input()"
    script = [sys.executable, "-c", hold]
    options = dict.fromkeys(["stdin", "stdout", "stderr"], subprocess.PIPE) | {"text": True}
    options["env"] = os.environ | {"PYTHONPATH": str(tree / "tools")}
    with subprocess.Popen(script, **options) as first:
        assert first.stdout.readline() == "held\n"
        with subprocess.Popen(script, **options) as second:
            assert second.stderr.readline() == "torchtpu: waiting for another set-up of this tree\n"
            first.communicate("\n")
            assert second.communicate("\n")[0] == "held\n"


def test_the_pins_are_what_the_package_asks_for(root: Path) -> None:
    pins = {}
    for file in ["requirements.txt", "requirements-plugin.txt"]:
        for line in (root / "tools" / file).read_text().splitlines():
            if line and line[0] not in "# ":
                requirement = Requirement(line.rstrip("\\ "))
                pins[requirement.name] = str(requirement.specifier).removeprefix("==")
    project = tomllib.loads((root / "pyproject.toml").read_text())
    asked = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    for extra in project["project"]["optional-dependencies"].values():
        asked += extra
    for requirement in map(Requirement, asked):
        assert requirement.specifier.contains(pins[requirement.name]), requirement


def test_interruption_is_one_line(tree: Path) -> None:
    script = "from environment.lock import lock\nwith lock():\n    raise KeyboardInterrupt"
    result = run(sys.executable, "-c", script, PYTHONPATH=str(tree / "tools"))
    assert stopped_with(result) == result.stderr.strip() == "torchtpu: interrupted; the next set-up continues"
