"""What copies between the host and the device cost, next to a copy of the same bytes into fresh host memory.

usage: tools/bench copies [--json]

All of it happens in one process, in turns, and every figure is the median over the rounds: times on a shared machine
wander, the ratios of one run hold. Fresh memory is the measure since a copy always makes some: most of the time goes
into the pages that the kernel has to give.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from options import wants_json

from torchtpu import _C

ROUNDS = 15
BYTES = 256 << 20
ITEMS = 2000  # calls of item() in a sample


@dataclass(frozen=True)
class Case:
    """One row: a call, and the call on the host that it is measured by."""

    name: str
    call: Callable[[], object]
    reference: Callable[[], object]
    # What the ratio (reference / call: speed) or, for `microseconds`, the difference has to be.
    goal: float
    microseconds: bool = False


def fresh(x: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    """A copy of a host tensor into memory that nobody had before."""
    return torch.empty(x.shape, dtype=dtype or x.dtype).copy_(x)


def cases() -> list[Case]:
    host = torch.arange(BYTES // 4, dtype=torch.float32)
    square = host.view(1 << 13, -1)
    there = host.to("tpu")
    number = torch.ones((), device="tpu")
    element = torch.ones(8, device="tpu")[3]
    kept = {}
    return [
        Case("to the device", lambda: host.to("tpu"), lambda: fresh(host), 0.8),
        Case("to the host", lambda: there.cpu(), lambda: fresh(host), 0.8),
        # What the tensor held is given back within the call.
        Case("into a tensor", lambda: there.copy_(host), lambda: kept.update(x=fresh(host)), 0.8),
        Case("to bfloat16", lambda: host.to("tpu", torch.bfloat16), lambda: fresh(host, torch.bfloat16), 0.8),
        Case("transposed", lambda: square.t().to("tpu"), lambda: fresh(square), 0.8),
        Case("every second", lambda: host[::2].to("tpu"), lambda: fresh(host[::2]), 0.8),
        # Measured by a bare await and read, in C++.
        Case("item()", lambda: repeat(number.item), lambda: _C.time_awaits(ITEMS), 4, True),
        Case("x[3].item()", lambda: repeat(element.item), lambda: _C.time_awaits(ITEMS), 4, True),
    ]


def repeat(call: Callable[[], object]) -> None:
    for _ in range(ITEMS):
        call()


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    result = call()
    torch.tpu.synchronize()
    elapsed = time.perf_counter() - start
    del result  # outside of the clock: giving memory back is the kernel's time
    return elapsed


def measure() -> dict[str, dict]:
    rows = cases()
    samples = {case.name: ([], []) for case in rows}
    for case in rows:
        case.call()
    for _ in range(ROUNDS):
        for case in rows:
            samples[case.name][0].append(seconds(case.call))
            samples[case.name][1].append(seconds(case.reference))
    if fallbacks := dict(_C.fallback_counts()):
        sys.exit(f"copies: a timed call fell back to the CPU: {fallbacks}")
    results = {}
    for case in rows:
        ours, reference = (statistics.median(values) for values in samples[case.name])
        if case.microseconds:
            ours, reference = ours / ITEMS * 1e6, reference / ITEMS * 1e6
            row = {"microseconds": ours, "await_microseconds": reference, "difference": ours - reference}
            row["reached"] = row["difference"] <= case.goal
        else:
            row = {"milliseconds": ours * 1e3, "host_milliseconds": reference * 1e3, "speed": reference / ours}
            row["reached"] = row["speed"] >= case.goal
        results[case.name] = row | {"goal": case.goal}
    return results


def table(results: dict[str, dict]) -> str:
    lines = [f"{f'{BYTES >> 20} MB, ms':16}{'tpu':>10}{'fresh host':>12}{'speed':>10}{'goal':>10}"]
    for name, row in results.items():
        if "speed" in row:
            lines.append(
                f"{name:16}{row['milliseconds']:10.1f}{row['host_milliseconds']:12.1f}{row['speed']:8.2f} x"
                f"{row['goal']:8.2f} x"
            )
    lines.append(f"{'one number, us':16}{'tpu':>10}{'await':>12}{'above':>10}{'goal':>10}")
    for name, row in results.items():
        if "difference" in row:
            lines.append(
                f"{name:16}{row['microseconds']:10.2f}{row['await_microseconds']:12.2f}{row['difference']:10.2f}"
                f"{row['goal']:10.2f}"
            )
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    as_json = wants_json(arguments, __doc__)
    results = measure()
    print(json.dumps({"platform": _C.platform(), "rounds": ROUNDS, "copies": results}) if as_json else table(results))


if __name__ == "__main__":
    main(sys.argv[1:])
