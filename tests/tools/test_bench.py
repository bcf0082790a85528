"""The benchmarks that tell what programs do, rather than how long they take."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_views_are_slices_and_move_no_more_than_they_have() -> None:
    command = [ROOT / "tools" / "bench", "views", "--json"]
    rows = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    plans = {"x": "whole", "x.t()": "transpose", "x[3]": "slice", "x[:, 8:16]": "slice", "x.view(-1)": "reshape"}
    assert {name: rows[name]["plan"] for name in plans} == plans
    for name in ("x[3]", "x[:, 3]", "x[8:16]", "x.chunk(2, 1)[1]"):
        for what in ("read", "write"):
            assert rows[name][what] <= 1.1 * rows[name][f"least_{what}"], (name, what)
