"""Several devices in one process: TORCHTPU_CPU_DEVICES=4 gives tpu:0 to tpu:3."""

import pytest

from tests.device import ON_TPU
from tests.runtime.subprocesses import run

pytestmark = pytest.mark.skipif(not ON_TPU, reason="there is no torch.tpu on another device")

PRELUDE = """
import torch, threading, warnings

def refused(call, error, text):
    try:
        call()
    except error as caught:
        assert text in str(caught), caught
    else:
        raise AssertionError(f"not refused: {text}")

"""


def four(program: str) -> None:
    run(PRELUDE + program, TORCHTPU_CPU_DEVICES="4")


def test_current_device() -> None:
    four(
        """
assert torch.tpu.device_count() == torch.accelerator.device_count() == 4 and not torch.tpu.is_initialized()
for device in (1, "tpu:1", torch.device("tpu", 1)):
    torch.tpu.set_device(0)
    torch.tpu.set_device(device)
    assert torch.tpu.current_device() == torch.accelerator.current_device_index() == 1
    assert torch.ones(1, device="tpu").device == torch.empty(1).tpu().device == torch.device("tpu:1")
    assert torch.ones(1, device=device).device.index == 1 and torch.ones(1).to(device).get_device() == 1
torch.tpu.set_device(-1), torch.tpu.set_device(-7)
assert torch.tpu.current_device() == 1
with torch.tpu.device(3), torch.tpu.device(-1), torch.tpu.device(None), torch.tpu.device("tpu"):
    assert torch.tpu.current_device() == 3 and torch.ones(1, device="tpu").sum().device.index == 3
    with torch.tpu.device_of(torch.ones(1, device="tpu:2")), torch.tpu.device_of(torch.ones(1)):
        assert torch.tpu.current_device() == 2
        with torch.accelerator.device_index(0), torch.accelerator.device_index(None):
            assert torch.tpu.current_device() == 0
    assert torch.tpu.current_device() == 3
    try:
        with torch.tpu.device(0):
            raise KeyError
    except KeyError:
        assert torch.tpu.current_device() == 3
assert torch.tpu.current_device() == 1
seen = []
thread = threading.Thread(target=lambda: seen.append(torch.tpu.current_device()))
thread.start(), thread.join()
assert seen == [0]
x = torch.ones(3, device="tpu:2")
assert (x + 1).exp().device == torch.zeros_like(x).device == x.new_ones(2).device == x.device  # whatever is current
torch.accelerator.set_device_index("tpu:3")
assert torch.tpu.current_device() == 3
for bad in (4, 256, 2**40, "tpu:4", torch.device("tpu", 9)):
    for use in (torch.tpu.set_device, torch.tpu.synchronize, torch.tpu.get_device_name, torch.tpu.mem_get_info,
                torch.tpu.get_device_properties, torch.tpu.memory_stats, torch.tpu.get_rng_state, torch.tpu.Stream,
                torch.tpu.current_stream, torch.tpu.default_stream, lambda bad: torch.tpu.device(bad).__enter__()):
        refused(lambda: use(bad), RuntimeError, "invalid device ordinal")
refused(lambda: torch.tpu.set_device(256), RuntimeError, "invalid device ordinal: tpu:256 does not exist")
refused(lambda: torch.ones(1, device="tpu:4"), RuntimeError, "this process has 4 tpu devices")
assert torch.tpu.current_device() == 3
        """
    )


def test_copies_and_mixing() -> None:
    four(
        """
x = torch.arange(6.0, device="tpu:1").reshape(2, 3)
for y in (x.to("tpu:2"), x.to("tpu:2", torch.float64), x.t().to("tpu:2").t(), torch.empty(2, 3, device="tpu:2").copy_(x),
          torch.zeros(4, 3, device="tpu:2")[1:3].copy_(x), x.to("tpu:2", non_blocking=True), x.tpu(2)):
    assert y.device == torch.device("tpu:2") and torch.equal(y.cpu().float(), x.cpu())
y = x.to("tpu:0")
y.add_(1)
assert y[0, 0].item() == 1 and x[0, 0].item() == 0 and x.to("tpu:1") is x and x.to("tpu").device.index == 0
a, b = torch.ones(2, 2, device="tpu:1"), torch.ones(2, 2, device="tpu:3")
both = "Expected all tensors to be on the same device, but found at least two devices, tpu:1 and tpu:3!"
for mixed in (lambda: a + b, lambda: a.add_(b), lambda: a @ b, lambda: torch.cat([a, b]), lambda: torch.add(a, a, out=b),
              lambda: torch.where(a > 0, a, b), lambda: torch.nn.functional.linear(a, b)):
    refused(mixed, RuntimeError, both)
refused(lambda: a + torch.ones(2, 2), RuntimeError, "tpu:1 and cpu")
refused(lambda: a[torch.tensor([0], device="tpu:3")], RuntimeError, "either on cpu or on the same device as the indexed")
assert (a + torch.tensor(2.0)).device == a.device and a[torch.tensor([1])].device == a.device
model = torch.nn.Linear(2, 2).to("tpu:3")
out = model(a.to("tpu:3")).to("tpu:1").sum()
out.backward()
assert model.weight.grad.device == torch.device("tpu:3") and out.device == torch.device("tpu:1")
programs = torch.tpu.cache_stats()["programs"]
for index in range(4):
    torch.ones(5, 5, device=f"tpu:{index}").cosh().cpu()
assert torch.tpu.cache_stats()["programs"] - programs <= 2  # one of each for all devices
        """
    )


def test_random_numbers() -> None:
    four(
        """
def draw(index):
    return torch.rand(4, device=f"tpu:{index}").tolist()

torch.manual_seed(5)  # before the runtime starts: the seed is every device's
first = [draw(index) for index in range(4)]
assert all(numbers == first[0] for numbers in first)  # the same seed, the same numbers, as on CUDA
torch.manual_seed(5)
assert [draw(index) for index in (3, 1)] == [first[0]] * 2
torch.tpu.set_device(2)
torch.tpu.manual_seed(7)
assert torch.tpu.initial_seed() == 7 and draw(3) != first[0]
torch.tpu.set_device(0)
assert torch.tpu.initial_seed() == 5
states = torch.tpu.get_rng_state_all()
assert len(states) == 4 and torch.equal(states[2], torch.tpu.get_rng_state("tpu:2"))
second = [draw(index) for index in range(4)]
assert second[2] != second[0]
torch.tpu.set_rng_state_all(states)
assert [draw(index) for index in range(4)] == second
torch.tpu.set_rng_state(states[2], torch.device("tpu:1"))
assert draw(1) == second[2]
with torch.random.fork_rng(devices=[1], device_type="tpu"):
    inside = draw(1), draw(2)
assert draw(1) == inside[0] and draw(2) != inside[1]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that all four of them are forked
    with torch.random.fork_rng(device_type="tpu"):
        inside = [draw(index) for index in range(4)]
assert [draw(index) for index in range(4)] == inside
torch.tpu.seed_all()
assert len({tuple(draw(index)) for index in range(4)}) == 1
torch.tpu.manual_seed_all(-1)
assert torch.tpu.initial_seed() == torch.Generator("tpu").manual_seed(-1).initial_seed()
refused(lambda: torch.tpu.manual_seed_all(2**64), ValueError, "Overflow")
refused(lambda: torch.Generator("tpu:4"), RuntimeError, "invalid device ordinal")
        """
    )


def test_memory_is_the_device_s() -> None:
    four(
        """
x = torch.ones(1 << 18, device="tpu:2")
assert [torch.tpu.memory_allocated(index) for index in range(4)] == [0, 0, 1 << 20, 0]
assert torch.accelerator.memory_allocated("tpu:2") == torch.tpu.memory_stats("tpu:2")["active_bytes.all.peak"] == 1 << 20
with torch.tpu.device(2):
    assert torch.tpu.max_memory_allocated() == 1 << 20
    y = x.to("tpu:3")
    torch.tpu.reset_peak_memory_stats()
assert torch.tpu.memory_allocated(3) == y.nbytes and torch.tpu.memory_allocated() == 0
del x
assert torch.tpu.memory_allocated(2) == 0 and torch.tpu.max_memory_allocated(2) == 1 << 20
try:
    torch.ones(1 << 46, dtype=torch.uint8, device="tpu:1").sum().item()
except torch.OutOfMemoryError as error:
    assert "of tpu:1 are in use" in str(error)
assert [torch.tpu.memory_stats(index)["num_ooms"] for index in range(4)] == [0, 1, 0, 0]
assert "tpu:3" in torch.tpu.memory_summary("tpu:3") and torch.tpu.mem_get_info(3)[1] > 0
        """
    )


def test_streams_and_events_are_the_device_s() -> None:
    four(
        """
s, default = torch.tpu.Stream(2), torch.tpu.default_stream(2)
assert s.device == torch.device("tpu:2") and torch.tpu.current_stream(2) == default != torch.tpu.default_stream(1)
with torch.tpu.stream(s):
    assert torch.tpu.current_device() == 2 and torch.tpu.current_stream() == s
    assert torch.tpu.current_stream(0) == torch.tpu.default_stream(0)
    assert torch.ones(1, device="tpu").device.index == 2
assert torch.tpu.current_device() == 0 and torch.tpu.current_stream(2) == default
with s:
    assert torch.tpu.current_device() == 2 and torch.accelerator.current_stream() == s
assert torch.tpu.current_device() == 0 and torch.tpu.current_stream(2) == default
torch.tpu.set_stream(s)
assert torch.tpu.current_device() == 2 and torch.tpu.current_stream() == s
torch.accelerator.set_stream(torch.tpu.default_stream(0))
assert torch.tpu.current_device() == 0
event = torch.tpu.Event()
event.record(s)
assert event.device == s.device
refused(lambda: event.record(torch.tpu.Stream(1)), RuntimeError, "does not match recording stream's device index")
event.wait(torch.tpu.Stream(1)), torch.tpu.Stream(3).wait_event(event)
refused(lambda: torch.ones(2, device="tpu:1").record_stream(s), RuntimeError, "the stream on tpu:2")
x = torch.full((2000, 2000), 1e-3, device="tpu:1")
x @ x
torch.tpu.synchronize(1)
y = x @ x
events = [torch.tpu.Event(), torch.tpu.Event()]
events[0].record(torch.tpu.current_stream(0)), events[1].record(torch.tpu.current_stream(1))
assert events[0].query() and not events[1].query()  # only one of the devices is at work
torch.tpu.synchronize(0), torch.tpu.synchronize("tpu:3")
assert not torch.tpu.current_stream(1).query()
torch.tpu.synchronize(torch.device("tpu:1"))
assert events[1].query() and torch.tpu.current_stream(1).query()
        """
    )


def test_number_of_devices() -> None:
    for text in ("0", "65", "two"):
        result = run("import torch; torch.ones(1, device='tpu')", check=False, TORCHTPU_CPU_DEVICES=text)
        assert result.returncode != 0 and f"TORCHTPU_CPU_DEVICES is '{text}'; it can be a whole number, 1 to 64" in result.stderr
        run("import torch; assert torch.tpu.device_count() == 0 and torch.tpu.is_available()", TORCHTPU_CPU_DEVICES=text)
