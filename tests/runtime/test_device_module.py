"""torch.tpu and torch.accelerator."""

import pickle
import threading

import pytest
import torch

from tests.device import ON_TPU

pytestmark = pytest.mark.skipif(not ON_TPU, reason="there is no torch.tpu on another device")


def test_devices() -> None:
    count = torch.tpu.device_count()
    assert count >= 1 and count == torch.accelerator.device_count()
    assert torch.tpu.current_device() == torch.accelerator.current_device_index() == 0
    torch.tpu.set_device(0)
    torch.tpu.set_device("tpu:0")
    torch.tpu.set_device(torch.device("tpu"))
    with pytest.raises(RuntimeError, match=f"tpu:{count}"):
        torch.tpu.set_device(count)
    with pytest.raises(ValueError, match="Expected a tpu device"):
        torch.tpu.set_device("cpu")
    with pytest.raises(RuntimeError, match=f"tpu:{count}"):
        torch.ones(1, device=f"tpu:{count}")


def test_device_contexts() -> None:
    x = torch.ones(1, device="tpu")
    with torch.tpu.device(0), torch.tpu.device_of(x), torch.tpu.device_of(torch.ones(1)):
        assert torch.tpu.current_device() == 0
        assert torch.ones(1, device="tpu").device == torch.device("tpu", 0) == x.device


def test_initialized_and_synchronize() -> None:
    torch.tpu.init()
    assert torch.tpu.is_initialized() and torch.tpu.is_available() and torch.accelerator.is_available()
    torch.tpu.synchronize()
    torch.tpu.synchronize("tpu:0")
    torch.accelerator.synchronize()


def test_properties() -> None:
    properties = torch.tpu.get_device_properties()
    assert properties.name == torch.tpu.get_device_name() == torch.tpu.get_device_name("tpu:0")
    assert properties.platform in ("cpu", "tpu") and properties.platform_version
    assert properties.total_memory > 0
    assert torch.tpu.get_device_capability()[1] == 0
    assert torch.tpu.is_bf16_supported() and torch.bfloat16 in torch.tpu.get_amp_supported_dtype()


def test_seeds() -> None:
    torch.manual_seed(5)
    assert torch.tpu.initial_seed() == 5
    first = torch.rand(4, device="tpu").cpu()
    state = torch.tpu.get_rng_state()
    second = torch.rand(4, device="tpu").cpu()
    torch.tpu.set_rng_state(state)
    assert torch.equal(torch.rand(4, device="tpu").cpu(), second) and not torch.equal(first, second)
    torch.tpu.manual_seed(5)
    assert torch.equal(torch.rand(4, device="tpu").cpu(), first)
    torch.tpu.manual_seed_all(6)
    assert torch.tpu.initial_seed() == 6
    torch.tpu.seed_all()
    assert torch.tpu.initial_seed() != 6
    torch.tpu.set_rng_state_all(torch.tpu.get_rng_state_all())


def test_seed_before_the_runtime_starts_is_kept() -> None:
    from tests.runtime.subprocesses import run

    program = "import torch; torch.manual_seed(3); print(torch.rand(3, device='tpu').tolist())"
    assert run(program).stdout == run(program).stdout


def test_fork_rng() -> None:
    torch.manual_seed(1)
    with torch.random.fork_rng(device_type="tpu"):
        inside = torch.rand(3, device="tpu").cpu()
    assert torch.equal(torch.rand(3, device="tpu").cpu(), inside)


def test_current_device_is_of_the_thread() -> None:
    seen = []
    thread = threading.Thread(target=lambda: seen.append(torch.tpu.current_device()))
    thread.start(), thread.join()
    assert seen == [0]


def test_methods() -> None:
    x = torch.ones(2)
    assert x.tpu().is_tpu and not x.is_tpu and x.tpu(0).get_device() == 0
    assert torch.nn.Linear(2, 2).tpu().weight.is_tpu
    packed = torch.nn.utils.rnn.pack_padded_sequence(torch.ones(2, 1, 3), torch.tensor([2]), enforce_sorted=False)
    assert packed.to("tpu").data.is_tpu
    assert x.tpu().untyped_storage().is_tpu


def test_statistics() -> None:
    x = torch.full((7, 3), 2.0, device="tpu")
    before = torch.tpu.cache_stats()
    x.exp(), x.exp()
    after = torch.tpu.cache_stats()
    assert after["programs"] - before["programs"] <= 1 and after["hits"] > before["hits"]
    assert set(after) >= {"programs", "hits", "misses", "compile_seconds"}
    torch.tpu.reset_fallback_counts()
    assert torch.tpu.fallback_counts() == {}


def test_functions_pickle() -> None:
    assert pickle.loads(pickle.dumps(torch.tpu.synchronize)) is torch.tpu.synchronize
