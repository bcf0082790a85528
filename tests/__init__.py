"""Tests. Importing this package prepares the process, before any of its modules imports torch.

Helpers assert in plain words too: pytest shows the values on both sides of an assert in the modules named here.
"""

import os

import pytest

# An op without an entry must not pass unnoticed by running on the CPU.
os.environ.setdefault("TORCHTPU_FALLBACK", "error")
# The tensors are small: PyTorch's own threads would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

pytest.register_assert_rewrite("tests.compare", "tests.device", "tests.ops.distribution", "tests.ops.harness")
