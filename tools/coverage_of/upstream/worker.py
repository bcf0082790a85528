"""The process in which tests of one file run, until it ends, crashes or is killed.

It reads what to do on its standard input, and tells what happens as it happens, one JSON object a line on a pipe, so
that nothing is lost with it:
{"collected": [TEST, ...]}, then for each test {"started": TEST} and {"finished": TEST, "outcome": ..., ...}; or
{"broken": MESSAGE} when the file cannot be imported.
"""

import json
import os
import sys
from pathlib import Path
from typing import IO

import pytest
from torch.testing._internal.common_device_type import PrivateUse1TestBase

# What a message is cut to: some print whole tensors.
LONGEST_MESSAGE = 1000


class Report:
    """A pytest plugin: keeps only the tests instantiated for the device, and reports them."""

    def __init__(self, request: dict, pipe: IO[str]) -> None:
        self._request = request
        self._pipe = pipe
        self._errors: list[dict] = []
        self._outcomes: set[str] = set()
        self._seconds = 0.0

    def _say(self, **event: object) -> None:
        print(json.dumps(event), file=self._pipe, flush=True)

    @pytest.hookimpl(trylast=True)  # after -k
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        wanted = [item for item in items if self._is_of_device(item)][:: self._request["every"]]
        self._say(collected=[item.nodeid for item in wanted])
        finished = set(self._request["finished"])
        items[:] = [item for item in wanted if item.nodeid not in finished]

    def _is_of_device(self, item: pytest.Item) -> bool:
        owner = getattr(item, "cls", None)
        of_class = self._request["of_class"]
        if of_class and not any(base.__name__ == of_class for base in getattr(owner, "__mro__", ())):
            return False
        return getattr(owner, "device_type", None) == self._request["device"]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._say(broken=str(report.longrepr).strip().splitlines()[-1])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._errors, self._outcomes, self._seconds = [], set(), 0.0
        self._say(started=nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo):
        report = yield
        self._seconds += call.duration
        self._outcomes.add(_outcome(report))
        if report.failed:
            self._errors.append(_error(item, call, report))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._outcomes.add(_outcome(report))  # of subtests, too

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        outcome = next(name for name in ("failed", "skipped", "passed") if name in self._outcomes)
        error = self._errors[0] if self._errors else {}
        self._say(finished=nodeid, outcome=outcome, seconds=round(self._seconds, 2), **error)


def _outcome(report: pytest.TestReport) -> str:
    """A test that PyTorch expects to fail, and that does, counts as passed."""
    return "passed" if hasattr(report, "wasxfail") and not report.failed else report.outcome


def _error(item: pytest.Item, call: pytest.CallInfo, report: pytest.TestReport) -> dict[str, str]:
    """The exception, and the statement of the test file that raised it."""
    if call.excinfo is None:  # an unexpected success
        return {"error": str(report.longrepr)[:LONGEST_MESSAGE]}
    frames = [frame for frame in call.excinfo.traceback if Path(frame.path) == item.path]
    statement = str(frames[-1].statement).strip() if frames else ""
    return {"error": call.excinfo.exconly()[:LONGEST_MESSAGE], "statement": statement[:LONGEST_MESSAGE]}


def main() -> int:
    request = json.load(sys.stdin)
    pipe = request["pipe"]
    os.set_inheritable(pipe, False)
    PrivateUse1TestBase.setUpClass()  # the name of the device; else tests made before the first has run know none
    PrivateUse1TestBase.set_test_configs()  # no exclusions: a test that must not run is a test that fails
    with open(pipe, "w") as events:
        # The checkout's own configuration is for PyTorch's CI. Output goes past pytest, since after a crash that is
        # where the reason stands.
        options = ["--noconftest", f"--config-file={os.devnull}", "--capture=no", "--tb=no", "--disable-warnings", "-q"]
        options += ["-p", "no:cacheprovider", f"--rootdir={Path(request['file']).parent}"]
        options += ["-k", request["match"]] if request["match"] else []
        return pytest.main([*options, request["file"]], plugins=[Report(request, events)])


if __name__ == "__main__":
    sys.exit(main())
