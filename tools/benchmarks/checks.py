"""What it costs to look for indices out of range, so that they raise as on the CPU: with the look, and without.

usage: tools/bench checks [--json]

Small: picking 4 of 4 rows, where all that counts is the wait for the verdict. Rows: gathering 1 MB by an index for every row, as
an embedding does; elements: by an index for every element, where the comparison reads twice the memory that the gather writes.
Until the result is there, in turns in one process, the median over the rounds.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # JAX traces here, and never owns the device

import torch
from options import wants_json

from torchtpu import _C

ROUNDS = 101
LARGE = 512  # rows and columns of float32: 1 MB
CALLS = {"small": 200, "rows": 10, "elements": 10}


def rows(count: int) -> Callable[[], None]:
    source, index = torch.ones(count, count, device="tpu"), torch.randint(count, (count,), device="tpu")
    return lambda: source.index_select(0, index)


def elements(count: int) -> Callable[[], None]:
    source, index = torch.ones(count, count, device="tpu"), torch.randint(count, (count, count), device="tpu")
    return lambda: source.gather(0, index)


def microseconds(call: Callable[[], None], calls: int, checked: bool) -> float:
    torch.tpu.set_value_checks(checked)
    call()
    torch.tpu.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        call()
        torch.tpu.synchronize()  # waits for what the verdict would have waited for
    return (time.perf_counter() - start) / calls * 1e6


def measure() -> dict[str, dict[str, float]]:
    cases = {"small": rows(4), "rows": rows(LARGE), "elements": elements(LARGE)}
    samples = {(name, checked): [] for name in cases for checked in (True, False)}
    for _ in range(ROUNDS):
        for (name, checked), values in samples.items():
            values.append(microseconds(cases[name], CALLS[name], checked))
    return {
        name: {word: statistics.median(samples[name, checked]) for word, checked in (("on", True), ("off", False))}
        for name in cases
    }


def main(arguments: list[str]) -> None:
    as_json = wants_json(arguments, __doc__)
    figures = measure()
    if as_json:
        print(json.dumps({"platform": _C.platform(), "rounds": ROUNDS, "checks": figures}))
        return
    for name, times in figures.items():
        print(f"{name}: {times['on']:.2f} us with checks, {times['off']:.2f} us without")
    print(f"a call waits {figures['small']['on'] - figures['small']['off']:.2f} us longer (at most 4)")
    for name in ("rows", "elements"):
        longer = figures[name]["on"] / figures[name]["off"] - 1
        print(f"a gather of 1 MB by {name} takes {longer * 100:.1f}% longer (at most 5%)")


if __name__ == "__main__":
    main(sys.argv[1:])
