"""The development environment of this tree: .venv with pinned packages, generated/ up to date, torchtpu/_C built.

`ensure()` takes the tree from whatever state it is in to a usable one. Every step first looks whether it has something
to do, so nothing to do costs a fraction of a second, and a set-up that was interrupted is continued by the next.
Standard library only; nothing here that an old Python cannot parse, since it is this file that refuses one.
"""

import os
import sys
from typing import NoReturn

from environment.paths import PYTHON, ROOT, stop

OLDEST, NEWEST = (3, 11), (3, 14)  # what both jax 0.10.2 and torch 2.13 have wheels for

if not OLDEST <= sys.version_info[:2] <= NEWEST:
    if PYTHON.exists():  # made by a supported Python
        os.execv(str(PYTHON), [str(PYTHON)] + sys.argv)
    stop(
        "this is Python %d.%d; install one of %d.%d to %d.%d and name it: python3.%d %s"
        % (sys.version_info[:2] + OLDEST + NEWEST + (NEWEST[1] - 1, " ".join(sys.argv)))
    )

from environment import build, packages, register  # noqa: E402: these need the version that was just checked
from environment.lock import lock  # noqa: E402

__all__ = ["PYTHON", "ROOT", "build_extension", "ensure", "enter", "python", "stop"]


def ensure() -> None:
    """Makes .venv, installs, generates and builds: whatever of it is missing or out of date."""
    with lock():
        packages.ensure()
        register.ensure()
        build.generate()
        build.build()


def build_extension() -> None:
    """Only the last step: for tools/regen, which has just generated."""
    with lock():
        build.build()


def enter() -> None:
    """Continues the calling script in .venv, which is made first if need be: for tools that need its packages."""
    if sys.prefix == str(PYTHON.parent.parent):
        return
    with lock():
        packages.ensure()
        register.ensure()
    python(*sys.argv)


def python(*arguments: str) -> NoReturn:
    """Continues as .venv's Python, this tree first on its path (.venv may be borrowed from another one)."""
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(path)
    os.execv(PYTHON, [str(PYTHON), *arguments])
