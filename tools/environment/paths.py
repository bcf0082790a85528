"""Where things lie in this tree, and how the tools speak to people."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
BUILD = ROOT / ".build"


def say(text):
    print("torchtpu: " + text, file=sys.stderr, flush=True)


def stop(text):
    """Ends the program with one line that says what to do."""
    sys.exit("torchtpu: " + text)
