"""Figures of memory: what live buffers hold, against allocations whose size is known."""

import gc

import pytest
import torch

from tests.device import ON_TPU
from tests.runtime.subprocesses import run

pytestmark = pytest.mark.skipif(not ON_TPU, reason="there is no torch.tpu on another device")

MIB = 1 << 20


class Change:
    """What tensors hold more than when this was made, in bytes."""

    def __init__(self) -> None:
        gc.collect()
        self.before = torch.tpu.memory_allocated()
        torch.tpu.reset_peak_memory_stats()

    @property
    def now(self) -> int:
        return torch.tpu.memory_allocated() - self.before

    @property
    def peak(self) -> int:
        return torch.tpu.max_memory_allocated() - self.before


def test_a_tensor_is_its_bytes(device) -> None:
    change = Change()
    x = torch.ones(MIB, device=device)
    assert change.now == 4 * MIB
    y = x + 1
    assert change.now == 8 * MIB
    del x
    assert change.now == 4 * MIB
    del y
    assert change.now == 0 and change.peak == 8 * MIB


@pytest.mark.parametrize("dtype", (torch.bool, torch.bfloat16, torch.int64, torch.complex64), ids=str)
def test_dtypes(device, dtype) -> None:
    change = Change()
    x = torch.zeros(1000, dtype=dtype, device=device)
    assert change.now == 1000 * x.itemsize
    y = torch.zeros(10, 100, dtype=dtype).to(device)
    assert change.now == 1000 * x.itemsize + y.nbytes


def test_calls_that_still_compile_count(device) -> None:
    """Nobody has to synchronize first: a figure is that of all calls made so far."""
    change = Change()
    x = torch.full((1237, 19), 2.0, device=device).cosh().erfc()
    assert change.now == x.nbytes


def test_peak(device) -> None:
    x = torch.ones(MIB, device=device)
    change = Change()
    y = x * 2
    del y
    assert (change.now, change.peak) == (0, 4 * MIB)
    torch.tpu.reset_peak_memory_stats()
    assert change.peak == 0


def test_in_place_takes_no_memory(device) -> None:
    x = torch.ones(MIB, device=device)
    x.add_(1)
    change = Change()
    for _ in range(5):
        x.add_(1)
        x[10:20].mul_(2)
    assert (change.now, change.peak) == (0, 0)
    assert x[0].item() == 7


def test_views_and_copies_take_memory_when_they_are_written(device) -> None:
    x = torch.ones(1024, 256, device=device)
    change = Change()
    views = x.t(), x[1:], x.view(-1), x.expand(3, 1024, 256), x.detach(), x[:, 3]
    copy = x.clone()
    assert change.now == 0 and len(views) == 6
    copy.add_(1)
    assert change.now == MIB


def test_empty_takes_memory_when_it_is_used(device) -> None:
    change = Change()
    x = torch.empty(1 << 28, device=device)  # the size of a model, as transformers does before it loads one
    y = torch.empty(MIB, device=device)
    assert change.now == 0 and x.shape == (1 << 28,)
    y.sum()
    assert change.now >= 4 * MIB


def test_totals(device) -> None:
    torch.tpu.reset_accumulated_memory_stats()
    stats = torch.tpu.memory_stats()
    for name in ("allocated_bytes", "reserved_bytes", "allocation", "segment"):
        assert stats[f"{name}.all.allocated"] == stats[f"{name}.all.freed"] == 0
    for _ in range(3):
        torch.ones(MIB, device=device)
    stats = torch.tpu.memory_stats()
    assert stats["allocated_bytes.all.allocated"] == stats["allocated_bytes.all.freed"] == 12 * MIB
    assert stats["allocation.all.allocated"] == stats["allocation.all.freed"] == 3


def test_the_runtime_s_own_bytes_are_reserved_only(device) -> None:
    x = torch.ones(16, device=device)
    x * 2
    change, reserved = Change(), torch.tpu.memory_reserved()
    x * 1.2345678  # a scalar that nobody used before stays on the device
    assert change.now == 0
    assert 0 < torch.tpu.memory_reserved() - reserved < 1024
    assert torch.tpu.max_memory_reserved() >= torch.tpu.memory_reserved() >= torch.tpu.memory_allocated()


def test_keys(device) -> None:
    """Those of torch.cuda.memory_stats that its users read."""
    x = torch.ones(100, device=device)
    stats = torch.tpu.memory_stats(x.device)
    for name in ("allocated_bytes", "reserved_bytes", "active_bytes", "requested_bytes", "inactive_split_bytes",
                 "allocation", "segment", "active", "inactive_split"):  # fmt: skip
        for pool in ("all", "small_pool", "large_pool"):
            values = [stats[f"{name}.{pool}.{figure}"] for figure in ("current", "peak", "allocated", "freed")]
            assert all(type(value) is int and value >= 0 for value in values)
            assert values[0] <= values[1]
    assert stats["active_bytes.all.peak"] >= stats["active_bytes.all.current"] >= x.nbytes
    assert stats["num_alloc_retries"] == 0 and stats["num_ooms"] >= 0
    assert stats["num_device_alloc"] >= stats["num_device_free"] >= 0
    assert list(stats) == sorted(stats)


def test_out_of_memory_is_counted(device) -> None:
    before = torch.tpu.memory_stats()["num_ooms"]
    change = Change()
    with pytest.raises(torch.OutOfMemoryError, match="tpu out of memory.* bytes of tpu:0 are in use by tensors"):
        torch.ones(1 << 46, dtype=torch.uint8, device=device).sum().item()
    assert torch.tpu.memory_stats()["num_ooms"] == before + 1
    assert change.now == 0
    torch.tpu.reset_accumulated_memory_stats()
    assert torch.tpu.memory_stats()["num_ooms"] == 0


def test_device_memory() -> None:
    free, total = torch.tpu.mem_get_info()
    assert 0 < free <= total == torch.tpu.get_device_properties().total_memory
    assert torch.tpu.mem_get_info(0)[1] == torch.tpu.mem_get_info("tpu:0")[1] == total


def test_summary(device) -> None:
    x = torch.ones(3 * MIB // 4, device=device)
    text, short = torch.tpu.memory_summary(), torch.tpu.memory_summary(x.device, abbreviated=True)
    assert text.startswith("Memory of tpu:0") and "Peak" in text and "runtime" in text and "runtime" not in short
    assert f"{torch.tpu.memory_allocated() / MIB:.1f} MiB" in short


def test_devices_as_arguments() -> None:
    for device in (None, 0, "tpu", "tpu:0", torch.device("tpu", 0)):
        assert torch.tpu.memory_allocated(device) == torch.tpu.memory_allocated()
        torch.tpu.reset_peak_memory_stats(device)
    with pytest.raises(ValueError, match="Expected a tpu device, but got: cpu"):
        torch.tpu.memory_allocated("cpu")
    with pytest.raises(RuntimeError, match="invalid device ordinal: tpu:70 "):
        torch.tpu.memory_stats(70)
    with pytest.raises(RuntimeError, match="invalid device ordinal: tpu:-2 "):
        torch.tpu.reset_peak_memory_stats(-2)


def test_a_failed_call_leaves_nothing_behind(device) -> None:
    x = torch.ones(MIB, device=device)
    change = Change()
    with pytest.raises(IndexError):
        (x * 2)[torch.tensor([MIB], device=device)]
    gc.collect()
    assert change.now == 0


def test_a_forked_child_is_not_kept_waiting() -> None:
    run(
        """
import os, torch
x = torch.ones(1000, device="tpu").exp().cosh()  # some of it may still compile
if os.fork() == 0:
    assert torch.tpu.memory_allocated() >= 0
    for use in (torch.tpu.synchronize, torch.tpu.Event().record, torch.tpu.current_stream().query):
        try:
            use()
        except RuntimeError as error:
            assert "fork" in str(error), error
        else:
            os._exit(2)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
        """,
        timeout=60,
    )
