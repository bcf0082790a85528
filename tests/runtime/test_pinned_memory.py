"""pin_memory() and is_pinned(): nothing here is page-locked, nothing says that it is, and nobody who asks is turned away."""

import pytest
import torch

from tests.device import ON_TPU
from tests.runtime.subprocesses import run

pytestmark = pytest.mark.skipif(not ON_TPU, reason="about torch.tpu's host memory")


def test_pin_memory_is_a_copy_in_ordinary_memory(device) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    pinned = x.pin_memory()
    assert torch.equal(pinned, x) and pinned.device.type == "cpu" and pinned.data_ptr() != x.data_ptr()
    assert not x.is_pinned() and not pinned.is_pinned() and not torch.empty(3, pin_memory=True).is_pinned()
    assert not x.to(device).is_pinned() and not x.untyped_storage().is_pinned()
    assert torch.equal(pinned.to(device, non_blocking=True).cpu(), x)


def test_pinned_tensors_of_the_device_are_refused(device) -> None:
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        torch.ones(2, device=device).pin_memory()
    with pytest.raises(RuntimeError, match="Only dense CPU tensors can be pinned"):
        torch.ones(2, device=device, pin_memory=True)


def test_a_source_may_be_written_after_a_copy_that_does_not_block(device) -> None:
    x = torch.ones(1 << 16).pin_memory()
    y = x.to(device, non_blocking=True)
    x.zero_()
    assert y.sum().item() == 1 << 16


def test_host_memory_is_given_back() -> None:
    torch.ones(1000).pin_memory()
    torch.accelerator.empty_host_cache()


@pytest.mark.filterwarnings("error")
def test_data_loader(device) -> None:
    data = torch.utils.data.TensorDataset(torch.arange(8.0), torch.arange(8))
    loader = torch.utils.data.DataLoader(data, batch_size=4, pin_memory=True)
    assert sum(x.to(device, non_blocking=True).sum().item() for x, _ in loader) == 28


def test_data_loader_with_workers() -> None:
    """The thread that pins must find its device, and the workers must not."""
    run(
        """
import torch
torch.ones(1, device="tpu").item()
data = torch.utils.data.TensorDataset(torch.arange(8.0))
loader = torch.utils.data.DataLoader(data, batch_size=4, num_workers=2, pin_memory=True, persistent_workers=True)
for _ in range(2):
    assert sum(batch.to("tpu", non_blocking=True).sum().item() for (batch,) in loader) == 28
        """
    )
