"""What a small op costs from Python, next to the same op on torch CPU, as a jax.jit call, and as a bare PJRT execution.

usage: tools/bench dispatch [--json]

All of it happens in one process, in turns, and every figure is the median over the rounds: times on a shared machine
wander, the ratios of one run hold. A figure is the time until the call returns; the clock stops before the wait for the
device. On the CPU platform programs this small run inside the call, so there it is the time of everything.
"""

import json
import os
import statistics
import sys
import timeit
from collections.abc import Callable
from dataclasses import dataclass

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # JAX is here to be compared with; the TPU, if any, is torchtpu's

import jax
import torch
from options import wants_json
from raw import raw_program

from torchtpu import _C

ROUNDS = 101
SAMPLE_SECONDS = 0.001  # short samples and many rounds: whatever disturbs the machine disturbs all columns alike

SHAPE = (4, 4)
COLUMNS = ("tpu", "torch_cpu", "jax_jit", "raw_pjrt")


@dataclass(frozen=True)
class Case:
    """One row: a statement over `x`, `y`, `w`, `b` in PyTorch, and the JAX function that does the same."""

    name: str
    statement: str
    function: Callable
    arguments: str = "xy"  # of `function`, each a letter
    in_place: bool = False  # the first argument is donated and replaced
    jax_statement: str = "f({arguments})"
    executions: int = 1  # of the program, in one statement; more than one form a chain


def layer_norm(x: jax.Array, w: jax.Array, b: jax.Array) -> jax.Array:
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * w + b


CHAIN = 100
CASES = (
    Case("add", "torch.add(x, y)", lambda x, y: x + y),
    # The same call twice, once with the number that the program holds and once with one in a cached operand buffer.
    Case("add_alpha_1", "torch.add(x, y, alpha=1)", lambda x, y: x + y),
    Case("add_alpha", "torch.add(x, y, alpha=2.5)", lambda x, y: x + 2.5 * y),
    Case("add_scalar", "torch.add(x, 2.5)", lambda x: x + 2.5, arguments="x"),
    Case("relu", "torch.relu(x)", lambda x: jax.numpy.maximum(x, 0), arguments="x"),
    Case("mm", "torch.mm(x, y)", lambda x, y: x @ y),
    Case("add_", "x.add_(y)", lambda x, y: x + y, in_place=True, jax_statement="x = f(x, y)"),
    Case("x[1]", "x[1]", lambda x: x[1], arguments="x"),
    Case("layer_norm", "torch.nn.functional.layer_norm(x, (4,), w, b)", layer_norm, arguments="xwb"),
    Case(
        f"chain_of_{CHAIN}",
        f"z = x\nfor _ in range({CHAIN}): z = torch.add(z, y)",
        lambda x, y: x + y,
        jax_statement=f"z = x\nfor _ in range({CHAIN}): z = f(z, y)",
        executions=CHAIN,
    ),
)


def shape_of(argument: str) -> tuple[int, ...]:
    return SHAPE if argument in "xy" else SHAPE[-1:]


class Statement:
    """A column of a case that Python runs: a statement, in a loop without a function call around it."""

    def __init__(self, code: str, values: dict, setup: str = "pass") -> None:
        self.timer = timeit.Timer(code, setup, globals=values)
        self.timer.timeit(20)  # compiles, fills the caches
        calls, seconds = self.timer.autorange()
        self.calls = max(1, round(SAMPLE_SECONDS * calls / seconds))

    def microseconds(self) -> float:
        return self.timer.timeit(self.calls) / self.calls * 1e6


class Raw:
    """The same program run by PJRT: a loop in C++."""

    def __init__(self, case: Case) -> None:
        shapes = [shape_of(name) for name in case.arguments]
        self.program = raw_program(case.function, shapes, donates=case.in_place)
        self.chain = case.in_place or case.executions > 1
        self.executions = case.executions
        self.program.time(1000, self.chain)
        self.calls = max(1, round(SAMPLE_SECONDS * 1e9 * 1000 / self.program.time(1000, self.chain)))

    def microseconds(self) -> float:
        return self.program.time(self.calls, self.chain) / self.calls / 1e3 * self.executions


def torch_column(case: Case, device: str) -> Statement:
    values = {name: torch.ones(shape_of(name), device=device) for name in "xywb"}
    return Statement(case.statement, {"torch": torch, **values})


def jax_column(case: Case) -> Statement:
    arrays = {name: jax.numpy.ones(shape_of(name), "float32") for name in "xywb"}
    if case.in_place:
        values = {"f": jax.jit(case.function, donate_argnums=0), "x_0": arrays["x"], "y": arrays["y"]}
        return Statement(case.jax_statement, values, setup="x = x_0 + 0")
    code = case.jax_statement.format(arguments=", ".join(case.arguments))
    return Statement(code, {"f": jax.jit(case.function), **arrays})


def measure() -> dict[str, dict[str, float | None]]:
    """Microseconds by case and column."""
    torch.set_num_threads(1)  # nothing here is worth a second thread, and waking one costs more than the op
    columns = {}
    for case in CASES:
        columns[case.name] = {
            "tpu": torch_column(case, "tpu"),
            "torch_cpu": torch_column(case, "cpu"),
            # Where torchtpu drives a TPU, JAX has only the CPU: no comparison.
            "jax_jit": jax_column(case) if _C.platform() == "cpu" else None,
            "raw_pjrt": Raw(case),
        }
    samples = {(row, column): [] for row in columns for column in COLUMNS if columns[row][column]}
    programs = _C.cache_stats()["programs"]
    for _ in range(ROUNDS):
        for (row, column), values in samples.items():
            values.append(columns[row][column].microseconds())
            torch.tpu.synchronize()
    if _C.cache_stats()["programs"] != programs:
        sys.exit("dispatch: a timed call compiled a program, so these are not the times of cache hits")
    if fallbacks := dict(_C.fallback_counts()):
        sys.exit(f"dispatch: a timed call fell back to the CPU: {fallbacks}")
    medians = {key: statistics.median(values) for key, values in samples.items()}
    return {row: {column: medians.get((row, column)) for column in COLUMNS} for row in columns}


def ratio(times: dict[str, float | None], column: str) -> float | None:
    return times["tpu"] / times[column] if times[column] else None


def text(value: float | None, unit: str = "") -> str:
    return "-" if value is None else f"{value:.2f}{unit}"


def table(results: dict[str, dict[str, float | None]]) -> str:
    others = COLUMNS[1:]
    lines = [("us per call", *COLUMNS, *(f"tpu/{column}" for column in others))]
    for row, times in results.items():
        ratios = (text(ratio(times, column), " x") for column in others)
        lines.append((row, *(text(times[column]) for column in COLUMNS), *ratios))
    return "\n".join(f"{line[0]:14}" + "".join(f"{cell:>15}" for cell in line[1:]) for line in lines)


def main(arguments: list[str]) -> None:
    as_json = wants_json(arguments, __doc__)
    results = measure()
    if as_json:
        rows = {
            row: {**times, "ratios": {column: ratio(times, column) for column in COLUMNS[1:]}}
            for row, times in results.items()
        }
        print(json.dumps({"platform": _C.platform(), "rounds": ROUNDS, "microseconds": rows}))
        return
    print(table(results))
    operand = results["add_alpha"]["tpu"] - results["add_alpha_1"]["tpu"]
    print(f"a scalar seen before, in a cached operand buffer, costs {operand:+.2f} us (add_alpha against add_alpha_1)")


if __name__ == "__main__":
    main(sys.argv[1:])
