"""Programs that need a process of their own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(program: str, *, timeout: float = 120, check: bool = True, **environment: str) -> subprocess.CompletedProcess:
    """Runs a Python program with this repository importable; fails the test with its output when it fails."""
    variables = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=timeout, env=variables, cwd=ROOT
    )
    assert not check or result.returncode == 0, f"exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
    return result
