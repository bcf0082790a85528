"""The process that checks operators, until it ends, crashes or is killed. See workers.py for how it talks.

A part is "OPERATOR DTYPE CHECK"; of the check "errors", whose arguments bring their own dtypes, each wrong input counts.
"""

import json
import os
import re
import sys
import time
import warnings
from collections.abc import Callable
from typing import IO

import torch
from torch.testing._internal import common_methods_invocations
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo

from ops.checks import CHECKS, Subject, applicable, error_calls, same_error

# What a message is cut to: some print whole tensors.
LONGEST_MESSAGE = 600


def full_name(info: OpInfo) -> str:
    return f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name


class Worker:
    def __init__(self, request: dict, pipe: IO[str]) -> None:
        self._request, self._pipe = request, pipe
        self._finished = set(request["finished"])

    def _say(self, **event: object) -> None:
        print(json.dumps(event), file=self._pipe, flush=True)

    def run(self) -> None:
        part, of = self._request["shard"]
        infos = [info for info in op_db if re.search(self._request["match"], full_name(info))][part::of]
        self._say(collected=[name for info in infos for name in self._parts(info)])
        for info in infos:
            self._check(info)

    def _parts(self, info: OpInfo) -> list[str]:
        dtypes = self._request["dtypes"]
        parts = [
            f"{full_name(info)} {dtype} {check}"
            for dtype in dtypes
            for check in applicable(info, getattr(torch, dtype))
        ]
        return parts + ([f"{full_name(info)} any errors"] if self._request["errors"] and info.error_inputs_func else [])

    def _check(self, info: OpInfo) -> None:
        subjects: dict[str, Subject] = {}
        for part in self._parts(info):
            if part in self._finished:
                continue
            _, dtype, check = part.rsplit(" ", 2)
            self._say(started=part)
            if check == "errors":
                self._say(finished=part, aten=info.aten_name, **self._count_errors(info))
                continue
            if dtype not in subjects:
                subjects = {dtype: Subject(info, getattr(torch, dtype), self._request["samples"])}
            self._say(finished=part, aten=info.aten_name, **_outcome(lambda: CHECKS[check](subjects[dtype])))

    def _count_errors(self, info: OpInfo) -> dict[str, object]:
        start = time.monotonic()
        outcomes = [_outcome(lambda: same_error(ours, theirs)) for ours, theirs in error_calls(info)]
        failed = [each["error"] for each in outcomes if each["outcome"] == "failed"]
        counts = {"outcome": "failed" if failed else "passed", "of": len(outcomes), "wrong": len(failed)}
        return counts | {"seconds": round(time.monotonic() - start, 2), "error": failed[0] if failed else ""}


def _outcome(check: Callable[[], None]) -> dict[str, object]:
    start = time.monotonic()
    error = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about resizing, deprecation and the like
            check()
    except Exception as raised:  # whatever an operator does wrong is what is looked for
        error = f"{type(raised).__name__}: {raised}".strip()[:LONGEST_MESSAGE]
    return {
        "outcome": "failed" if error else "passed",
        "seconds": round(time.monotonic() - start, 2),
        "error": error,
    }


def main() -> None:
    request = json.load(sys.stdin)
    # The OpInfos of random functions reset the seed at every call, which would make each draw the same.
    common_methods_invocations.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)
    os.set_inheritable(request["pipe"], False)
    with open(request["pipe"], "w") as pipe:
        Worker(request, pipe).run()


if __name__ == "__main__":
    main()
