"""torch.accelerator: every function that it has, and what libraries call on a device without knowing which one it is."""

import pytest
import torch

from tests.device import ON_TPU
from tests.runtime.subprocesses import run

pytestmark = pytest.mark.skipif(not ON_TPU, reason="there is no torch.tpu on another device")

CALLS = {
    "Graph": None,
    "current_accelerator": lambda: torch.accelerator.current_accelerator() == torch.device("tpu"),
    "current_device_idx": lambda: torch.accelerator.current_device_idx() == 0,
    "current_device_index": lambda: torch.accelerator.current_device_index() == 0,
    "get_device_capability": lambda: torch.bfloat16 in torch.accelerator.get_device_capability()["supported_dtypes"],
    "current_stream": lambda: torch.accelerator.current_stream("tpu:0") == torch.tpu.current_stream(),
    "device_count": lambda: torch.accelerator.device_count() == torch.tpu.device_count(),
    "device_index": lambda: torch.accelerator.device_index(0).__enter__() is None,
    "empty_cache": lambda: torch.accelerator.empty_cache() is None,
    "empty_host_cache": lambda: torch.accelerator.empty_host_cache() is None,
    "get_memory_info": lambda: torch.accelerator.get_memory_info(0)[1] == torch.tpu.mem_get_info()[1],
    "is_available": lambda: torch.accelerator.is_available() is True,
    "max_memory_allocated": lambda: torch.accelerator.max_memory_allocated() == torch.tpu.max_memory_allocated(),
    "max_memory_reserved": lambda: torch.accelerator.max_memory_reserved(0) == torch.tpu.max_memory_reserved(),
    "memory_allocated": lambda: torch.accelerator.memory_allocated("tpu") == torch.tpu.memory_allocated() > 0,
    "memory_reserved": lambda: torch.accelerator.memory_reserved() == torch.tpu.memory_reserved() > 0,
    "memory_stats": lambda: torch.accelerator.memory_stats() == torch.tpu.memory_stats(),
    "reset_accumulated_memory_stats": lambda: torch.accelerator.reset_accumulated_memory_stats("tpu:0") is None,
    "reset_peak_memory_stats": lambda: torch.accelerator.reset_peak_memory_stats() is None,
    "set_device_idx": lambda: torch.accelerator.set_device_idx(0) is None,
    "set_device_index": lambda: torch.accelerator.set_device_index(torch.device("tpu:0")) is None,
    "set_stream": lambda: torch.accelerator.set_stream(torch.tpu.default_stream()) is None,
    "synchronize": lambda: torch.accelerator.synchronize() is None,
}


def test_nothing_is_left_out() -> None:
    assert sorted(CALLS) == sorted(torch.accelerator.__all__)


@pytest.mark.filterwarnings("ignore:Use `.*device_index` instead:FutureWarning")
@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if call])
def test_function(name, device) -> None:
    x = torch.ones(8, device=device)
    assert CALLS[name](), x


def test_figures(device) -> None:
    torch.accelerator.reset_peak_memory_stats()
    before = torch.accelerator.memory_allocated()
    x = torch.ones(1 << 18, device=device)
    assert torch.accelerator.memory_allocated() - before == x.nbytes
    del x
    assert torch.accelerator.memory_allocated() == before
    assert torch.accelerator.max_memory_allocated() - before == 4 << 18


def test_capability() -> None:
    """Exactly the dtypes that a tensor may have."""
    supported = torch.accelerator.get_device_capability("tpu:0")["supported_dtypes"]
    for dtype in (torch.float64, torch.complex32, torch.complex64, torch.uint16, torch.float8_e4m3fn, torch.bool):
        assert dtype in supported and torch.empty(1, dtype=dtype, device="tpu").dtype == dtype
    for dtype in (torch.uint4, torch.qint8):
        assert dtype not in supported
    with pytest.raises(NotImplementedError, match="cannot have dtype UInt4"):
        torch.empty(1, dtype=torch.uint4, device="tpu")


def test_a_device_of_another_type_is_refused() -> None:
    for call in (torch.accelerator.memory_stats, torch.accelerator.synchronize, torch.accelerator.set_device_index):
        with pytest.raises(ValueError, match="doesn't match the current accelerator"):
            call("cpu")
    with pytest.raises(RuntimeError, match="Graph is not supported on device type: tpu"):
        torch.accelerator.Graph()


def test_what_libraries_call_on_a_device(device) -> None:
    """The calls of transformers, accelerate, diffusers and torchtitan, as they write them."""
    module = torch.get_device_module(torch.accelerator.current_accelerator())
    assert module is torch.get_device_module() and module.__name__.split(".")[-1] == "tpu"
    assert module.is_available() and module.device_count() >= 1 and not module._is_in_bad_fork()
    assert torch._C._get_accelerator() == torch.device("tpu") and torch.backends.tpu.is_available()
    module.set_device(torch.device("tpu:0")), module.set_device(module.current_device())
    module.manual_seed(3), module.manual_seed_all(3), module.empty_cache(), module.ipc_collect(), module.synchronize()
    torch.ones(4, device=device)
    assert module.is_initialized() and module._initialized
    free, total = module.mem_get_info(0)
    assert free <= total == module.get_device_properties(torch.device("tpu:0")).total_memory
    module.reset_peak_memory_stats(0), module.reset_accumulated_memory_stats(0)
    stats = module.memory_stats(torch.device("tpu:0"))
    for key in ("active_bytes.all.peak", "reserved_bytes.all.peak", "num_alloc_retries", "num_ooms"):
        assert stats[key] >= 0
    assert module.max_memory_allocated(0) == stats["active_bytes.all.peak"] <= module.max_memory_reserved(0)
    with module.stream(module.Stream(device=torch.device("tpu:0"))), module.device(0), torch.Stream():
        assert torch.ones(2, device=device).sum().item() == 2
    assert torch.bfloat16 in module.get_amp_supported_dtype() and not torch.is_autocast_enabled("tpu")
    state = module.get_rng_state()
    first = torch.rand(3, device=device).cpu()
    module.set_rng_state(state)
    assert torch.equal(torch.rand(3, device=device).cpu(), first)
    assert module.get_device_name() == module.get_device_name(torch.device("tpu:0")) != ""


def test_questions_start_nothing() -> None:
    """Libraries ask at import; a process that has only been asked can fork, and its children use the device."""
    run(
        """
import os, torch
torch.manual_seed(1), torch.tpu.manual_seed(2), torch.tpu.manual_seed_all(3), torch.tpu.initial_seed()
torch.accelerator.is_available(), torch.accelerator.device_count(), torch.accelerator.empty_cache()
torch.accelerator.current_accelerator(), torch.accelerator.memory_stats(0), torch.accelerator.memory_allocated(0)
torch.tpu.set_device(0), torch.tpu.current_device(), torch.tpu.device_count(), torch.tpu.synchronize()
torch.tpu.memory_summary(), torch.tpu.memory_reserved(), torch.tpu.reset_peak_memory_stats()
torch.tpu.get_amp_supported_dtype(), torch.tpu.is_bf16_supported(), torch.tpu.ipc_collect(), torch.tpu.Stream()
event = torch.tpu.Event(enable_timing=True)
event.record(), event.wait(), event.synchronize()
assert event.query() and event.elapsed_time(event) == 0
with torch.random.fork_rng(device_type="tpu"), torch.tpu.device(0), torch.tpu.stream(None):
    torch.tpu.seed_all()
assert torch.tpu.initial_seed() == 3 and torch.tpu.get_rng_state_all()[0].numel() == 16
stats = torch.tpu.memory_stats()
assert stats["active_bytes.all.peak"] == stats["num_ooms"] == torch.tpu.memory_allocated() == 0
assert not torch.tpu.is_initialized()
if os.fork() == 0:
    os._exit(0 if torch.ones(2, device="tpu").sum().item() == 2 else 1)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
        """
    )
