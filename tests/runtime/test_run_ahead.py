"""While programs are compiled in the background: results are pending, in the order of the calls, and failures find someone."""

import threading

import pytest
import torch

from tests.device import DEVICE, ON_TPU
from tests.runtime.subprocesses import run

pytestmark = pytest.mark.skipif(not ON_TPU, reason="about the device's compile cache")


def test_order_of_cold_calls() -> None:
    """Each op is new, so that every one is queued; reads, writes and views keep the order in which they were called."""

    def body(device: str) -> list[torch.Tensor]:
        x = torch.arange(77.0, device=device).reshape(7, 11)
        before = x.clone()
        x[2].mul_(3)
        y = x.t() @ x
        x.zero_()
        x[:, 3] = y[0, :7]
        z = x.sum(0)
        x.copy_(before + 1)
        return [before, x, y, z]

    for ours, theirs in zip(body(DEVICE), body("cpu")):
        torch.testing.assert_close(ours.cpu(), theirs)


def test_identical_misses_compile_once() -> None:
    x = torch.ones(5, 13, device=DEVICE)
    torch.tpu.synchronize()
    before, results = torch.tpu.cache_stats(), []
    start = threading.Barrier(8)

    def body() -> None:
        start.wait()
        results.append(torch.atan2(x, x))

    threads = [threading.Thread(target=body) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    after = torch.tpu.cache_stats()
    assert after["misses"] - before["misses"] == after["programs"] - before["programs"] == 1
    for result in results:
        torch.testing.assert_close(result.cpu(), torch.atan2(torch.ones(5, 13), torch.ones(5, 13)))


_FAILS = """
import resource, torch
torch.ones(2, device="tpu").sum().item()
p, fresh = torch.ones(4, device="tpu"), torch.zeros(3, device="tpu")
torch.tpu.synchronize()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (3 << 29), resource.RLIM_INFINITY))
def outcome(what):
    try:
        result = what()
        return result if isinstance(result, list) else "done"
    except torch.OutOfMemoryError as error:
        return "out of memory" if "2147483648" in str(error) and "<string>:14" in str(error) else str(error)
big = torch.ones(1 << 29, device="tpu")  # 2 GiB, half a GiB too much
total = big.sum()
# These are told at once if the failure is known by then, else they do not take place and somebody else is told.
told = [outcome(lambda: p.add_(total)), outcome(lambda: fresh.copy_(total.expand(3)))]
told += [outcome(p.tolist), outcome(fresh.tolist)]
print("out of memory" in told)
print(outcome(p.tolist), outcome(fresh.tolist))
print(outcome(total.item), outcome(total.item), outcome(lambda: (big + 1).sum().item()), sep="; ")
torch.tpu.synchronize()
print(outcome(torch.ones(2, device="tpu").sum().tolist))
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_a_failure_is_told_and_what_it_should_have_updated_is_kept(threads: int) -> None:
    """Whatever rests on a missing value is missing, and says why; parameters survive, so that a smaller batch may follow."""
    result = run(_FAILS, check=False, TORCHTPU_COMPILE_THREADS=str(threads))
    assert result.stdout.splitlines() == [
        "True",
        "[1.0, 1.0, 1.0, 1.0] [0.0, 0.0, 0.0]",
        "out of memory; out of memory; out of memory",
        "done",
    ], result.stderr


@pytest.mark.parametrize("threads", ["0", "1", "8"])
def test_number_of_threads(threads: str) -> None:
    code = 'import torch; x = torch.ones(3, device="tpu"); print((x * 2 + x).sum().item())'
    assert run(code, TORCHTPU_COMPILE_THREADS=threads).stdout.split() == ["9.0"]


@pytest.mark.parametrize("threads", ["-1", "many", "65"])
def test_a_number_of_threads_that_is_none(threads: str) -> None:
    code = 'import torch; torch.ones(3, device="tpu").add(1)'
    result = run(code, check=False, TORCHTPU_COMPILE_THREADS=threads)
    said = f"ValueError: torchtpu: TORCHTPU_COMPILE_THREADS is '{threads}'; it can be a whole number, 0 to 64"
    assert result.stderr.splitlines()[-1] == said
