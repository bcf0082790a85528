"""What a chain of in-place ops on a 4 MB tensor costs, next to the same chain of donated PJRT executions.

usage: tools/bench in_place [--json]

Time: until the last result is there, in turns in one process, the median over the rounds. Memory: the most that tensors held during
the chain, in units of the tensor; every op donates its buffer, so that one serves the whole chain.
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
from raw import raw_program

from torchtpu import _C

SHAPE = (1024, 1024)
CHAIN = 100
ROUNDS = 31


def tensor_chain(device: str) -> Callable[[], None]:
    x = torch.ones(SHAPE, device=device)

    def run() -> None:
        for _ in range(CHAIN):
            x.add_(1)
        torch.tpu.synchronize()

    return run


def raw_chain() -> Callable[[], None]:
    program = raw_program(lambda x: x + 1, [SHAPE], donates=True)

    def run() -> None:
        program.time(CHAIN, True)
        program.wait()

    return run


def seconds(call: Callable[[], None]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure() -> dict[str, float]:
    chains = {"tpu": tensor_chain("tpu"), "torch_cpu": tensor_chain("cpu"), "raw_pjrt": raw_chain()}
    samples = {name: [] for name in chains}
    for chain in chains.values():
        chain()
    torch.tpu.reset_peak_memory_stats()
    before = torch.tpu.memory_allocated()
    chains["tpu"]()
    size = 4 * SHAPE[0] * SHAPE[1]
    buffers = (torch.tpu.max_memory_allocated() - before) / size + 1
    for _ in range(ROUNDS):
        for name, chain in chains.items():
            samples[name].append(seconds(chain))
    figures = {name: statistics.median(values) / CHAIN * 1e6 for name, values in samples.items()}
    return {**figures, "peak_buffers": buffers}


def main(arguments: list[str]) -> None:
    as_json = wants_json(arguments, __doc__)
    figures = measure()
    if as_json:
        print(json.dumps({"platform": _C.platform(), "rounds": ROUNDS, "in_place": figures}))
        return
    print("us per x.add_(1), 4 MB: " + ", ".join(f"{name} {figures[name]:.1f}" for name in ("tpu", "torch_cpu", "raw_pjrt")))
    print(f"tpu / raw_pjrt: {figures['tpu'] / figures['raw_pjrt']:.2f} x (at most 1.3)")
    print(f"most memory: {figures['peak_buffers']:.2f} buffers (1)")


if __name__ == "__main__":
    main(sys.argv[1:])
