"""The example that the README starts with, as it is printed there."""

import json
import subprocess
import sys

from tests.device import DEVICE, ON_TPU
from tests.runtime.subprocesses import ROOT


def test_quickstart() -> None:
    result = subprocess.run(
        [sys.executable, "examples/quickstart.py", "--device", DEVICE],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    summary = json.loads(result.stdout.splitlines()[-1])
    assert summary["accuracy"] >= 0.97
    assert abs(summary["accuracy"] - summary["cpu_accuracy"]) <= 0.01
    assert summary["max_loss_diff"] <= 1e-4
    assert summary["fallbacks"] == 0
    assert summary["recompiled"] == 0
    assert summary["step_ms"] > 0
    if ON_TPU:
        assert summary["programs"] > 0 and summary["cache_hits"] > summary["programs"]
