"""Runs one test file to its end, whatever its tests do: each crash or hang costs that test and a new worker."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

WORKER = Path(__file__).with_name("worker.py")
# Seconds that a worker may take to import PyTorch and the file; a loaded machine needs a minute for the largest.
START_LIMIT = 300
LONGEST_MESSAGE = 1000


@dataclass(frozen=True)
class Options:
    """How a file is run."""

    device: str = "tpu"
    fallback: str = "error"
    timeout: float = 120  # seconds a test may take
    match: str = ""  # pytest's -k
    every: int = 1  # run only every so manieth test
    verbose: bool = False  # say of each test what became of it, on stderr


@dataclass
class Result:
    """What became of a file's tests, or of those of one class in it."""

    file: str
    of_class: str = ""
    collected: list[str] = field(default_factory=list)
    finished: dict[str, dict] = field(default_factory=dict)  # test: outcome, seconds, error, statement
    broken: str = ""  # why nothing was collected
    seconds: float = 0.0

    def counts(self) -> Counter[str]:
        return Counter(test["outcome"] for test in self.finished.values())

    def failures(self) -> list[dict]:
        return [{"test": name} | test for name, test in self.finished.items() if test["outcome"] == "failed"]


def run(result: Result, options: Options) -> None:
    """Starts workers until every test of the file has an outcome. When interrupted, `result` holds what there is."""
    start = time.monotonic()
    try:
        while not _run_worker(result, options):
            pass
    finally:
        result.seconds = round(time.monotonic() - start, 1)


def _run_worker(result: Result, options: Options) -> bool:
    """Runs a worker over the tests without an outcome; whether none are left, or none can be had."""
    before = len(result.finished)
    running = ""
    with tempfile.TemporaryFile("w+") as errors, _worker(result, options, errors) as (process, pipe):
        limit = START_LIMIT
        for event in _events(process, pipe, lambda: limit):
            if "broken" in event:
                result.broken = event["broken"]
            elif "collected" in event:
                result.collected = event["collected"]
            elif "started" in event:
                running, limit = event["started"], options.timeout
            elif "finished" in event:
                running = ""
                _finish(result, event.pop("finished"), event, options)
        hung = process.poll() is None
        how = f"no end after {limit:g} s" if hung else _how_it_ended(process.wait(), errors)
    left = [test for test in result.collected if test not in result.finished]
    if result.broken or not (running or left):
        if not result.collected and not result.broken and process.returncode not in (0, 5):  # 5: no tests
            result.broken = how
        return True
    lost = {"outcome": "failed", "seconds": 0.0, "error": how, "statement": ""}
    if running:
        _finish(result, running, lost, options)
    elif len(result.finished) == before:  # it ends by itself, before the first test or between two: give up
        for test in left:
            _finish(result, test, lost, options)
    return len(result.finished) == len(result.collected)


def _finish(result: Result, name: str, test: dict, options: Options) -> None:
    result.finished[name] = test
    if options.verbose:
        count = f"{len(result.finished)}/{len(result.collected)}"
        print(f"{count:>11} {test['outcome']:8}{test['seconds']:>7.1f} s  {name}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _worker(result: Result, options: Options, errors: IO[str]) -> Iterator[tuple[subprocess.Popen, int]]:
    """The process, and the end of the pipe on which it tells what happens. Nothing that it started outlives it."""
    reading, writing = os.pipe()
    request = {
        "file": result.file,
        "device": options.device,
        "of_class": result.of_class,
        "finished": list(result.finished),
        "match": options.match,
        "every": options.every,
        "pipe": writing,
    }
    process = subprocess.Popen(
        [sys.executable, "-P", WORKER],
        cwd=Path(result.file).parent,
        env=os.environ | _environment(options),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        pass_fds=[writing],
        start_new_session=True,
    )
    os.close(writing)
    try:
        with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
            stdin.write(json.dumps(request).encode())
        yield process, reading
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(reading)


def _environment(options: Options) -> dict[str, str]:
    return {
        "TORCHTPU_FALLBACK": options.fallback,
        "PYTORCH_TESTING_DEVICE_ONLY_FOR": "cpu" if options.device == "cpu" else "privateuse1",
        "PYTORCH_PRINT_REPRO_ON_FAILURE": "0",
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",  # the tensors are small
    }


def _events(process: subprocess.Popen, pipe: int, limit) -> Iterator[dict]:
    """What the worker says, until it has ended or said nothing for `limit()` seconds."""
    rest = b""
    heard = time.monotonic()
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while time.monotonic() - heard < limit():
            ended = process.poll() is not None  # asked first: what it said before it ended is still read
            data = os.read(pipe, 1 << 16) if selector.select(timeout=0 if ended else 0.5) else None
            if data:
                heard = time.monotonic()
                *lines, rest = (rest + data).split(b"\n")
                yield from map(json.loads, lines)
            elif ended:
                return
            elif data is not None:  # closed, but not ended: it is about to
                time.sleep(0.05)


def _how_it_ended(code: int, errors: IO[str]) -> str:
    """What ended a worker, with what it said last: why, if a C++ library says it in one of the usual ways."""
    name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    errors.seek(0)
    lines = [line.strip() for line in errors.read().split("Fatal Python error")[0].splitlines() if line.strip()]
    reasons = [line for line in lines if line.startswith("what():") or "Check failed" in line]
    return f"crash: {name}: {(reasons or lines or [''])[-1]}"[:LONGEST_MESSAGE]
