"""What needs a process of its own: fork, Ctrl-C, the fallback's modes, and which libraries get loaded."""

import pytest

from tests.device import ON_TPU
from tests.runtime.subprocesses import run

pytestmark = pytest.mark.skipif(not ON_TPU, reason="about the device")


def test_a_forked_child_says_so() -> None:
    output = run(
        """
import os, torch
x = torch.ones(2, device="tpu") + 1
reader, writer = os.pipe()
if os.fork() == 0:
    try:
        torch.ones(2, device="tpu") + 1
        answer = "no error"
    except RuntimeError as error:
        answer = str(error)
    torch.manual_seed(0)
    answer += " | cpu works" if torch.ones(2).sum() == 2 else ""
    os.write(writer, answer.encode())
    os._exit(0)
os.close(writer)
print(os.read(reader, 10000).decode())
os.wait()
assert (x + 1).sum().item() == 6
        """
    ).stdout
    assert "fork" in output and "spawn" in output and "cpu works" in output


def test_a_child_forked_before_the_first_use_works() -> None:
    run(
        """
import os, torch
torch.manual_seed(0)
if os.fork() == 0:
    os._exit(0 if torch.ones(2, device="tpu").sum().item() == 2 else 1)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
        """
    )


def test_data_loader_workers_of_a_running_device() -> None:
    run(
        """
import torch
torch.ones(1, device="tpu").item()
data = torch.utils.data.TensorDataset(torch.arange(8.0))
loader = torch.utils.data.DataLoader(data, batch_size=4, num_workers=1)
assert sum(batch.to("tpu").sum().item() for (batch,) in loader) == 28
        """
    )


def test_interrupt_during_a_compile() -> None:
    """Ctrl-C while programs are being made: KeyboardInterrupt, and the next call works.

    Python itself swallows one that arrives in a garbage collection callback, of which JAX has one.
    """
    run(
        """
import os, signal, threading, time, torch
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are born with it ignored
torch.ones(1, device="tpu").exp()
interrupts = 0
for attempt in range(5):
    timer = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        timer.start()
        for size in range(10 + 50 * attempt, 60 + 50 * attempt):
            torch.ones(size, device="tpu").softmax(0)
        timer.join()
        time.sleep(0.1)
    except KeyboardInterrupt:
        interrupts += 1
assert interrupts >= 3, interrupts
assert torch.ones(4, device="tpu").softmax(0).sum().item() == 1
        """
    )


FALLBACK = """
import torch
x = torch.tensor([0, 1, 1], device="tpu")
print(torch._convert_indices_from_coo_to_csr(x, 3).device, torch.tpu.fallback_counts())
"""


def test_fallback_is_counted_and_warns_once() -> None:
    result = run(FALLBACK + "torch._convert_indices_from_coo_to_csr(x, 3); print(torch.tpu.fallback_counts())", TORCHTPU_FALLBACK="warn")
    assert "tpu:0" in result.stdout and "2" in result.stdout.splitlines()[-1]
    assert result.stderr.count("tools/regen new aten::") == 1


def test_fallback_as_an_error() -> None:
    result = run(FALLBACK, TORCHTPU_FALLBACK="error", check=False)
    assert (
        result.returncode != 0 and "tools/regen new aten::" in result.stderr and "NotImplementedError" in result.stderr
    )


def test_unknown_fallback_mode() -> None:
    result = run(FALLBACK, TORCHTPU_FALLBACK="sometimes", check=False)
    assert result.returncode != 0 and "'warn' or 'error'" in result.stderr


def test_the_miss_path_leaves_libtpu_alone() -> None:
    """JAX without a platform would map libtpu into the process, and so own the TPU."""
    run(
        """
import sys, torch
assert "jax" not in sys.modules
torch.ones(3, device="tpu").exp().cpu()
assert "jax" in sys.modules
assert torch.tpu.get_device_properties().platform == "cpu"
assert "libtpu" not in open("/proc/self/maps").read()
        """,
        TORCHTPU_PLATFORM="cpu",
        JAX_PLATFORMS="",
    )


def test_hits_need_no_python() -> None:
    """A hit runs while another thread holds the miss path's module lock: it never comes there."""
    run(
        """
import torch, torchtpu
x = torch.ones(3, device="tpu")
x + 1
torchtpu._trace = None
import sys
sys.modules["torchtpu.miss"] = None
assert (x + 2).sum().item() == 9
        """
    )


def test_the_platform_can_be_forced() -> None:
    result = run("import torch; torch.ones(1, device='tpu')", TORCHTPU_PLATFORM="gpu", check=False)
    assert result.returncode != 0 and "TORCHTPU_PLATFORM" in result.stderr


def test_exit_with_work_in_flight() -> None:
    run("import torch; x = torch.ones(1 << 20, device='tpu'); y = [x.add_(1) for _ in range(50)]")


def test_exit_while_a_backward_thread_drops_what_it_ran() -> None:
    """A pass may return before its thread has dropped the pass's hooks, for which it needs the interpreter."""
    run(
        """
import sys, threading, time, torch
main, asleep = threading.get_ident(), threading.Event()
class Pack:
    def __call__(self, tensor): return tensor
    def __del__(self):
        if threading.get_ident() != main:
            asleep.set()
            time.sleep(0.5)
def step():
    with torch.autograd.graph.saved_tensors_hooks(Pack(), lambda tensor: tensor):
        x = torch.ones(3, device="tpu", requires_grad=True)
        (x * x).sum().backward()
for _ in range(1000):  # one in some twenty
    step()
    if asleep.is_set(): sys.exit(0)
sys.exit("the main thread was always the last to hold them")
        """
    )


def test_exit_while_a_backward_pass_is_stuck() -> None:
    """A daemon's: the process waits for it as long as autograd does, 10 s."""
    run(
        """
import threading, time, torch
started = threading.Event()
def stick():
    x = torch.ones(3, device="tpu", requires_grad=True)
    y = x * 2
    y.register_hook(lambda gradient: (started.set(), time.sleep(1000)))
    y.sum().backward()
threading.Thread(target=stick, daemon=True).start()
assert started.wait(60)
        """,
        timeout=90,
    )
