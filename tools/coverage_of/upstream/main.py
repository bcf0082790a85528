"""Runs PyTorch's device-generic test suites, from a checkout that you name, against the `tpu` device.

Per file it prints the tests collected for the device, how many passed, failed and were skipped (by PyTorch's own
conditions, such as "only on CUDA"), and what part passed: of all that were collected, and of those that ran. No test
is excluded; one that crashes the process or takes too long has failed, and the next ones run all the same.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from workers import Job, Result, run, share

from upstream.suites import SUITES, Suite, named

COLUMNS = ("collected", "passed", "failed", "skipped", "of collected", "of run", "seconds")


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/coverage upstream", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path, metavar="CHECKOUT", help="a PyTorch checkout, or a folder of test files")
    parser.add_argument(
        "--file",
        action="append",
        metavar="NAME",
        help=f"only this one; may be repeated. Without it: {', '.join(suite.name for suite in SUITES)}",
    )
    parser.add_argument("-k", dest="match", default="", metavar="MATCH", help="only these tests, as pytest's -k")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="run only every Nth test")
    parser.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="that a test may take (120)")
    parser.add_argument(
        "--fallback",
        choices=("error", "warn"),
        default="error",
        help="what an op without an entry does: fail (the default), or run on the CPU with a warning",
    )
    parser.add_argument(
        "--device",
        choices=("tpu", "cpu"),
        default="tpu",
        help="cpu: PyTorch's own, which shows the tests that fail by themselves, such as those of another version",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="on stderr, a line for each test as it ends")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts and every failure here")
    return parser.parse_args(arguments)


def row(results: Sequence[Result]) -> list[str]:
    counts = sum((result.counts() for result in results), start=Counter())
    passed, failed = counts["passed"], counts["failed"]
    collected = sum(len(result.collected) for result in results)
    seconds = sum(result.seconds for result in results)
    numbers = [collected, passed, failed, counts["skipped"]]
    return [*map(str, numbers), share(passed, collected), share(passed, passed + failed), f"{seconds:.0f}"]


def line(name: str, cells: Iterable[str]) -> str:
    return f"{name:26}" + "".join(f"{cell:>14}" for cell in cells)


def failures(result: Result) -> list[dict]:
    lost = {"statement": ""}  # a worker that crashes says of no statement that it did it
    return [{"test": name} | lost | test for name, test in result.finished.items() if test["outcome"] == "failed"]


def write(path: Path, results: dict[str, Result], arguments: argparse.Namespace) -> None:
    files = {
        name: {
            "collected": len(result.collected),
            **{outcome: result.counts()[outcome] for outcome in ("passed", "failed", "skipped")},
            "seconds": result.seconds,
            "broken": result.broken,
            "failures": failures(result),
        }
        for name, result in results.items()
    }
    about = {"torch": torch.__version__, "fallback": arguments.fallback, "sample": arguments.sample}
    path.write_text(json.dumps(about | {"files": files}, indent=1) + "\n")


def job(suite: Suite, file: Path, arguments: argparse.Namespace) -> Job:
    return Job(
        worker=Path(__file__).with_name("worker.py"),
        request={
            "file": str(file),
            "device": arguments.device,
            "of_class": suite.of_class,
            "match": arguments.match,
            "every": arguments.sample,
        },
        environment={
            "TORCHTPU_FALLBACK": arguments.fallback,
            "PYTORCH_TESTING_DEVICE_ONLY_FOR": "cpu" if arguments.device == "cpu" else "privateuse1",
            "PYTORCH_PRINT_REPRO_ON_FAILURE": "0",
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",  # the tensors are small
        },
        folder=file.parent,
        timeout=arguments.timeout,
        verbose=arguments.verbose,
    )


def main(argv: list[str]) -> int:
    arguments = parse(argv)
    suites = named(arguments.file)
    if not any(suite.find(arguments.checkout) for suite in suites):
        files = " or ".join(suite.file for suite in suites)
        print(f"tools/coverage: no {files} in {arguments.checkout}", file=sys.stderr)
        return 2
    results: dict[str, Result] = {}
    print(line("", COLUMNS), flush=True)
    for suite in suites:
        path = suite.find(arguments.checkout)
        if path is None:
            print(f"{suite.name:26}  not in this checkout", flush=True)
            continue
        result = results[suite.name] = Result()
        try:
            run(job(suite, path.resolve(), arguments), result)
        finally:  # after each file, and when interrupted in one: the whole takes long
            print(f"{suite.name:26}  {result.broken}" if result.broken else line(suite.name, row([result])), flush=True)
            if arguments.json:
                write(arguments.json, results, arguments)
    if len(results) > 1:
        print(line("all", row(list(results.values()))))
    return int(any(result.broken or result.counts()["failed"] for result in results.values()))
