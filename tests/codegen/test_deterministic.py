"""Two runs in two processes give the same bytes, whatever Python's hashes are."""

import os
import subprocess
import sys

from tests.codegen.specs import HERE

PROGRAM = """
import hashlib
from codegen.pipeline import generate
from tests.codegen.specs import SMALL, context
for path, text in generate(context(SMALL.read_text())).items():
    print(path, hashlib.sha256(text.encode()).hexdigest())
"""


def test_byte_identical_from_run_to_run() -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            cwd=HERE.parents[1],
            env=os.environ | {"PYTHONHASHSEED": seed, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    outputs = [run.communicate()[0] for run in runs]
    assert outputs[0].count("\n") > 10
    assert outputs[0] == outputs[1]
