"""Runs the parts of a report in worker processes: a crash or a hang costs one part and a new worker.

A worker reads its request, one JSON object, on its standard input, and tells what happens as it happens, one JSON
object a line on the pipe that the request names, so that nothing is lost with it: {"collected": [PART, ...]}, then for
each part {"started": PART} and {"finished": PART, "outcome": "passed", "failed" or "skipped", "seconds": ..., ...}; or
{"broken": MESSAGE} when there is nothing to run.
"""

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

# Seconds that a worker may take to import PyTorch and what it runs; a loaded machine needs a minute for the largest.
START_LIMIT = 300
LONGEST_MESSAGE = 1000
# The exit code of a pytest that has collected nothing, which is no failure.
NOTHING_COLLECTED = 5


@dataclass(frozen=True)
class Job:
    """What a worker is to do: `request` is what it is told, beside which parts are finished and the pipe to tell on."""

    worker: Path
    request: dict
    environment: dict[str, str]
    folder: Path  # to run in
    timeout: float = 120  # seconds a part may take
    verbose: bool = False  # say of each part what became of it, on stderr


@dataclass
class Result:
    """What became of the parts of a job."""

    collected: list[str] = field(default_factory=list)
    finished: dict[str, dict] = field(default_factory=dict)  # part: outcome, seconds, error, ...
    broken: str = ""  # why nothing was collected
    seconds: float = 0.0
    cancelled: bool = False  # set by another thread: no more of it is run

    def counts(self) -> Counter[str]:
        return Counter(part["outcome"] for part in self.finished.values())


def run(job: Job, result: Result) -> None:
    """Starts workers until every part has an outcome. When interrupted, `result` holds what there is."""
    start = time.monotonic()
    try:
        while not result.cancelled and not _run_worker(job, result):
            pass
    finally:
        result.seconds = round(time.monotonic() - start, 1)


def _run_worker(job: Job, result: Result) -> bool:
    """Runs a worker over the parts without an outcome; whether none are left, or none can be had."""
    before = len(result.finished)
    running = ""
    with tempfile.TemporaryFile("w+") as errors, _worker(job, result, errors) as (process, pipe):
        limit = START_LIMIT
        for event in _events(process, pipe, lambda: -1 if result.cancelled else limit):
            if "broken" in event:
                result.broken = event["broken"]
            elif "collected" in event:
                result.collected = event["collected"]
            elif "started" in event:
                running, limit = event["started"], job.timeout
            elif "finished" in event:
                running = ""
                _finish(job, result, event.pop("finished"), event)
        hung = process.poll() is None
        how = f"no end after {limit:g} s" if hung else _how_it_ended(process.wait(), errors)
    left = [part for part in result.collected if part not in result.finished]
    if result.cancelled:
        return True
    if result.broken or not (running or left):
        if not result.collected and not result.broken and process.returncode not in (0, NOTHING_COLLECTED):
            result.broken = how
        return True
    lost = {"outcome": "failed", "seconds": 0.0, "error": how}
    if running:
        _finish(job, result, running, lost)
    elif len(result.finished) == before:  # it ends by itself, before the first part or between two: give up
        for part in left:
            _finish(job, result, part, lost)
    return len(result.finished) == len(result.collected)


def _finish(job: Job, result: Result, name: str, part: dict) -> None:
    result.finished[name] = part
    if job.verbose:
        count = f"{len(result.finished)}/{len(result.collected)}"
        print(f"{count:>11} {part['outcome']:8}{part['seconds']:>7.1f} s  {name}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _worker(job: Job, result: Result, errors: IO[str]) -> Iterator[tuple[subprocess.Popen, int]]:
    """The process, and the end of the pipe on which it tells what happens. Nothing that it started outlives it."""
    reading, writing = os.pipe()
    request = job.request | {"finished": list(result.finished), "pipe": writing}
    process = subprocess.Popen(
        [sys.executable, "-P", job.worker],
        cwd=job.folder,
        env=os.environ | job.environment,
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


def share(part: int, whole: int) -> str:
    """A percentage, rounded down: 100 means all."""
    return f"{part * 1000 // whole / 10:.1f}%" if whole else "-"
