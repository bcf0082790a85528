"""Runs every operator that PyTorch describes (its OpInfos) on the `tpu` device and compares with PyTorch's CPU.

For each operator and dtype, over a few samples: results, gradients, gradients of gradients, in-place and out= forms, and
strided arguments; and the errors of wrong inputs. What applies is what PyTorch's CPU supports, whatever ops.yaml says. A crash or a hang costs
one check. Failures go to stdout, a line each, then a table of how many checks passed.
"""

import argparse
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path

from codegen.emit import measured
from codegen.emit.measured import CHECKS, Measured
from workers import Job, Result, run, share

ROOT = Path(__file__).resolve().parents[3]
DTYPES = ("float32", "int64", "bool")
COLUMNS = ("operator", "dtype", "check", "outcome", "seconds", "error")
# What an error says when nothing computes the op.
NO_ENTRY = "NotImplementedError"


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/coverage ops", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--dtypes", default=",".join(DTYPES), help=f"a comma between two; {','.join(DTYPES)} unless given"
    )
    parser.add_argument("--match", default="", metavar="RE", help="only operators whose name contains a match")
    parser.add_argument("--samples", type=int, default=4, metavar="N", help="compare at most N of each operator (4)")
    parser.add_argument("--no-errors", dest="errors", action="store_false", help="leave wrong inputs out")
    parser.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="that a check may take (120)")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes that run at a time (2)")
    parser.add_argument("--tsv", type=Path, metavar="FILE", help=f"write a line per check: {', '.join(COLUMNS)}")
    parser.add_argument("--record", action="store_true", help="keep the results for OPS.md, which tools/regen writes")
    parser.add_argument("-v", "--verbose", action="store_true", help="on stderr, a line for each check as it ends")
    return parser.parse_args(arguments)


def job(shard: int, arguments: argparse.Namespace) -> Job:
    return Job(
        worker=Path(__file__).with_name("worker.py"),
        request={
            "dtypes": arguments.dtypes.split(","),
            "match": arguments.match,
            "samples": arguments.samples,
            "errors": arguments.errors,
            "shard": (shard, arguments.workers),
        },
        environment={
            "TORCHTPU_FALLBACK": "error",
            "PYTHONPATH": f"{ROOT}:{ROOT / 'tools' / 'coverage_of'}",
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",  # the tensors are small
        },
        folder=ROOT,
        timeout=arguments.timeout,
        verbose=arguments.verbose,
    )


def run_all(jobs: list[Job], results: list[Result]) -> None:
    with ThreadPoolExecutor(len(jobs)) as pool:
        running = [pool.submit(run, *pair) for pair in zip(jobs, results)]
        try:
            for each in running:
                each.result()
        except BaseException:
            for result in results:
                result.cancelled = True
            raise


def rows(results: list[Result]) -> list[dict[str, str]]:
    found = []
    for result in results:
        for part, what in result.finished.items():
            operator, dtype, check = part.rsplit(" ", 2)
            error = " ".join(what.get("error", "").split())
            found.append(what | {"operator": operator, "dtype": dtype, "check": check, "error": error})
    return sorted(found, key=lambda row: (row["operator"], row["dtype"], row["check"]))


def table(found: list[dict]) -> list[str]:
    """How many of the applicable checks passed, by dtype and check; of the errors, how many wrong inputs."""
    lines = ["".join(f"{cell:>22}" for cell in ("", *CHECKS, "all"))]
    for dtype in sorted({row["dtype"] for row in found if row["check"] != "errors"}):
        of_dtype = [row for row in found if row["dtype"] == dtype]
        cells = [_passed([row for row in of_dtype if row["check"] in checks]) for checks in (*zip(CHECKS), CHECKS)]
        lines.append("".join(f"{cell:>22}" for cell in (dtype, *cells)))
    wrong = [row for row in found if row["check"] == "errors"]
    inputs, different = (sum(row.get(count, 0) for row in wrong) for count in ("of", "wrong"))
    if inputs:
        same = inputs - different
        lines.append(f"wrong inputs: {same} of {inputs} raise the CPU's error ({share(same, inputs)})")
    return lines


def _passed(some: list[dict]) -> str:
    passed = Counter(row["outcome"] for row in some)["passed"]
    return f"{passed}/{len(some)} {share(passed, len(some))}"


def write(path: Path, found: list[dict]) -> None:
    lines = ["\t".join(str(row.get(column, "")) for column in COLUMNS) for row in found]
    path.write_text("\n".join(["\t".join(COLUMNS), *lines]) + "\n")


def record(found: list[dict]) -> None:
    """Into generated/coverage.tsv, in place of what it says of the same operators and dtypes."""
    path = ROOT / "generated" / measured.NAME
    known = measured.read(path.read_text()) if path.is_file() else []
    rows = {(row.operator, row.dtype): row for row in known}
    aten = {row["operator"]: row["aten"] for row in found if "aten" in row}  # a worker that crashes says none
    checks = [row for row in found if row["check"] in CHECKS and row["operator"] in aten]
    for (operator, dtype), group in groupby(checks, key=lambda row: (row["operator"], row["dtype"])):
        parts = list(group)
        passed = {part["check"]: part["outcome"] == "passed" for part in parts}
        rows[operator, dtype] = Measured(operator, aten[operator], dtype, passed)
    path.write_text(measured.write(rows.values()))


def main(argv: list[str]) -> int:
    arguments = parse(argv)
    results = [Result() for _ in range(arguments.workers)]
    try:
        run_all([job(shard, arguments) for shard in range(arguments.workers)], results)
    finally:  # when interrupted, too: the whole takes long
        found = rows(results)
        if arguments.tsv:
            write(arguments.tsv, found)
        if arguments.record:
            record(found)
    broken = [result.broken for result in results if result.broken]
    if broken:
        print(f"tools/coverage: {broken[0]}", file=sys.stderr)
        return 2
    if not found:
        print(f"tools/coverage: no operator's name contains a match of {arguments.match!r}", file=sys.stderr)
        return 2
    failed = [row for row in found if row["outcome"] == "failed"]
    for row in failed:
        print(f"{row['operator']} {row['dtype']} {row['check']}: {row['error']}")
    lost = Counter(row["error"].partition(":")[0].partition(" after")[0] for row in failed)
    print("\n".join(table(found)))
    print(f"crashes: {lost['crash']}; hangs: {lost['no end']}; without an entry: {sum(NO_ENTRY in row['error'] for row in failed)}")
    return int(bool(failed))
