""".venv and the packages in it, through pip as it is configured on this machine."""

import hashlib
import importlib.util
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from environment.paths import PYTHON, ROOT, VENV, say, stop

REQUIREMENTS = ROOT / "tools" / "requirements.txt"
PLUGIN_REQUIREMENTS = ROOT / "tools" / "requirements-plugin.txt"
STAMP = VENV / "torchtpu-installed"  # holds the fingerprint of the last finished installation
INCOMPLETE = "incomplete"
LOG = VENV / "torchtpu-pip.log"
FRESH_GIB = 6  # .venv takes 3 with a CPU build of torch; downloads and the build come on top


def ensure() -> None:
    installed = STAMP.read_text() if STAMP.exists() else ""
    wanted = _fingerprint()
    if installed == wanted and PYTHON.exists():
        return
    if VENV.is_symlink():
        stop(f".venv is another tree's, {VENV.resolve().parent}, whose packages are not those of tools/requirements*.txt here")
    _check_machine()
    if installed == INCOMPLETE or not _works():
        _create()
    say("installing the pinned packages into .venv (minutes the first time)")
    STAMP.write_text(INCOMPLETE)  # pip may be interrupted halfway through a package: then the next set-up starts afresh
    # Hashes, once one line has them, are asked of every line: so the plugin is a call of its own.
    _pip("the packages of tools/requirements.txt", "-r", str(REQUIREMENTS))
    _pip("XLA's CPU plugin and the PJRT header", "--no-deps", "-r", str(PLUGIN_REQUIREMENTS))
    STAMP.write_text(wanted)


def _fingerprint() -> str:
    return hashlib.sha256(REQUIREMENTS.read_bytes() + PLUGIN_REQUIREMENTS.read_bytes()).hexdigest()


def _check_machine() -> None:
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        stop(f"only Linux on x86-64 has the plugins that run the device; this is {platform.platform(terse=True)}")
    libc, version = platform.libc_ver()
    if libc != "glibc" or tuple(map(int, version.split("."))) < (2, 27):
        this = f"{libc} {version}".strip() or "not glibc"
        stop(f"the plugins that run the device need glibc 2.27 or newer; this is {this}")


def _works() -> bool:
    """Whether .venv has an interpreter and a pip that run (one whose base Python was removed has not)."""
    try:
        return subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True).returncode == 0
    except OSError:
        return False


def _create() -> None:
    if importlib.util.find_spec("ensurepip") is None:
        stop("this Python cannot make a .venv: install its venv package (Debian, Ubuntu: apt install python3-venv)")
    free = shutil.disk_usage(ROOT).free / 2**30
    if free < FRESH_GIB:
        stop(f"a set-up needs {FRESH_GIB} GiB of disk and {ROOT} has {free:.1f}: free some space")
    say(f"making .venv with Python {platform.python_version()}")
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], capture_output=True, text=True)
    if made.returncode:
        print(made.stdout, made.stderr, file=sys.stderr)
        stop("python -m venv failed, see above")


def _pip(what: str, *arguments: str) -> None:
    with open(LOG, "w") as log:
        command = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar=off", *arguments]
        failed = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode
    if failed:
        errors = [line for line in LOG.read_text().splitlines() if not line.startswith("WARNING")]
        print(*errors[-15:], sep="\n", file=sys.stderr)
        stop(f"pip could not install {what}, see above; whole log: {_relative(LOG)}")


def _relative(path: Path) -> str:
    return str(path.relative_to(ROOT))
