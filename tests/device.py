"""The device under test and its counters: the one place that knows which device that is.

TORCHTPU_TEST_DEVICE=cpu runs the tests against PyTorch's own CPU device, which shows mistakes in the tests themselves.
"""

import contextlib
import os
from collections.abc import Iterator

import torch

DEVICE = os.environ.get("TORCHTPU_TEST_DEVICE", "tpu")
ON_TPU = DEVICE == "tpu"


def programs() -> int:
    """How many programs the process has compiled."""
    return torch.tpu.cache_stats()["misses"] if ON_TPU else 0


def fallbacks() -> dict[str, int]:
    return torch.tpu.fallback_counts() if ON_TPU else {}


@contextlib.contextmanager
def compiles(at_most: int) -> Iterator[None]:
    """Asserts how many programs its body may compile."""
    before = programs()
    yield
    compiled = programs() - before
    assert compiled <= at_most, f"compiled {compiled} programs, expected at most {at_most}"


@contextlib.contextmanager
def no_fallback() -> Iterator[None]:
    """Asserts that nothing in its body runs on the CPU instead."""
    before = fallbacks()
    yield
    assert fallbacks() == before
