"""What fails on the device after its call has returned: it names its op, is told once, and harms nothing else."""

import pytest
import torch

from tests.device import ON_TPU
from tests.runtime.subprocesses import run

pytestmark = pytest.mark.skipif(not ON_TPU, reason="about calls that the device carries out later")

# The program of sort is issued, and finds no room for what it needs in between.
_SETUP = """
import resource, torch
def outcome(what):
    try:
        what()
        return "done"
    except torch.OutOfMemoryError as error:
        return "sort ran out of memory" if "sort" in str(error) else str(error)
x, other = torch.arange(1 << 25, device="tpu").float(), torch.ones(3, device="tpu")
(other + 1).sum().item()
torch.tpu.synchronize()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
torch.sort(x)  # compiles
torch.tpu.synchronize()
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20), resource.RLIM_INFINITY))  # it takes 400 MB
"""


def _lines(code: str, **environment: str) -> list[str]:
    return run(_SETUP + code, **environment).stdout.splitlines()


def test_synchronize_tells_once() -> None:
    code = """
values = []
print(outcome(lambda: values.append(torch.sort(x))))
print(outcome(torch.tpu.synchronize), outcome(torch.tpu.synchronize), sep="; ")
print((other + 1).tolist(), x[:3].tolist())
print(outcome(values[0].values[:3].tolist))
values.clear()
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(torch.sort(x, descending=True).values[-3:].tolist())
"""
    assert _lines(code) == [
        "done",
        "sort ran out of memory; done",
        "[2.0, 2.0, 2.0] [0.0, 1.0, 2.0]",
        "sort ran out of memory",
        "[2.0, 1.0, 0.0]",
    ]


@pytest.mark.parametrize("how", ["environment", "call"])
def test_debug_mode_raises_at_the_call(how: str) -> None:
    code = """
print(torch.tpu.get_eager_mode())
print(outcome(lambda: torch.sort(x)), outcome(torch.tpu.synchronize), sep="; ")
print((other + 1).tolist())
"""
    set_it = 'torch.tpu.set_eager_mode("debug")' if how == "call" else ""
    environment = {"TORCHTPU_EAGER": "debug"} if how == "environment" else {}
    assert _lines(set_it + code, **environment) == ["debug", "sort ran out of memory; done", "[2.0, 2.0, 2.0]"]


def test_modes() -> None:
    assert torch.tpu.get_eager_mode() == "strict"
    with pytest.raises(ValueError, match="eager mode 'lazy'; it can be 'strict' or 'debug'"):
        torch.tpu.set_eager_mode("lazy")
    torch.tpu.set_eager_mode("debug")
    try:
        x = torch.arange(6.0, device="tpu").reshape(2, 3)
        x[1].add_(1)
        assert (x @ x.t()).tolist() == [[5.0, 17.0], [17.0, 77.0]]
    finally:
        torch.tpu.set_eager_mode("strict")


def test_an_unknown_mode_in_the_environment_is_a_warning() -> None:
    result = run('import torch; print(torch.tpu.get_eager_mode())', TORCHTPU_EAGER="lazy")
    assert result.stdout.split() == ["strict"]
    assert "TORCHTPU_EAGER is 'lazy'; it can be 'strict' or 'debug'" in result.stderr
