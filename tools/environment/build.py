"""generated/ from ops.yaml, and torchtpu/_C from csrc/ and generated/csrc."""

import os
import shutil
import subprocess
import sys

from environment.paths import BUILD, PYTHON, ROOT, say, stop

SOURCE = ROOT / "csrc"
# What ninja says even when it builds nothing.
IDLE = ("Re-checking globbed directories...", "checking generated/", "ninja: no work to do.")


def generate() -> None:
    if subprocess.run([PYTHON, ROOT / "codegen" / "manifest.py"], capture_output=True).returncode == 0:
        return
    say("generating from ops.yaml")
    # Its output is diagnostics and progress, and what the caller prints may be meant for a program.
    if subprocess.run([PYTHON, ROOT / "tools" / "regen", "--no-build"], stdout=sys.stderr).returncode:
        stop("generated/ is not up to date, see above")


def build() -> None:
    if not _configured():
        _configure()
    command = [PYTHON.parent / "ninja", "-C", BUILD]
    ninja = subprocess.Popen(command, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in ninja.stdout:
        if not line.startswith("ninja: Entering") and not line.rstrip().endswith(IDLE):
            print(line, end="", file=sys.stderr, flush=True)
    if ninja.wait():
        stop("the C++ build failed, see above")


def _environment() -> dict[str, str]:
    """With .venv's cmake and ninja first on the path."""
    return os.environ | {"PATH": f"{PYTHON.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}


def _configured() -> bool:
    """Whether .build was configured, to the end (build.ninja comes last), for this place and this interpreter."""
    cache = BUILD / "CMakeCache.txt"
    if not (BUILD / "build.ninja").exists() or not cache.exists():
        return False
    text = cache.read_text()
    return f"CMAKE_HOME_DIRECTORY:INTERNAL={SOURCE}\n" in text and f"={PYTHON}\n" in text


def _configure() -> None:
    compiler = os.environ.get("CXX", "c++")
    if shutil.which(compiler.split()[0]) is None:
        stop(f"no C++ compiler ({compiler}): install g++ 11 or newer (Debian: apt install g++) or name one in CXX")
    found = subprocess.run([PYTHON, SOURCE / "find_packages.py"], capture_output=True, text=True)
    if found.returncode:
        stop(found.stderr.strip())
    say("configuring the C++ build")
    for left in [BUILD / "CMakeCache.txt", BUILD / "CMakeFiles"]:  # of another place or interpreter
        shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)
    command = [PYTHON.parent / "cmake", "-S", SOURCE, "-B", BUILD, "-G", "Ninja", f"-DPython_EXECUTABLE={PYTHON}"]
    done = subprocess.run(command, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        stop("cmake could not configure the build, see above (it needs a C++20 compiler: g++ 11 or clang 14 or newer)")
