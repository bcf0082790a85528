"""Other processes: what they may do with the device, and what cannot be handed to them."""

from multiprocessing.reduction import ForkingPickler

import pytest
import torch

from tests.runtime.subprocesses import run

SPAWNED = """
import sys
import torch, torch.multiprocessing as multiprocessing

class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        x = torch.full((2,), float(index), device="tpu")
        return (x * x).cpu()

def child(queue):
    queue.put(torch.arange(3, device="tpu").sum().item())

def main():
    assert torch.ones(2, device="tpu").sum().item() == 2
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    assert queue.get(timeout=100) == 3
    process.join()
    loader = torch.utils.data.DataLoader(Squares(), num_workers=1, multiprocessing_context="spawn")
    assert [x[0, 0].item() for x in loader] == [0, 1, 4, 9]

if __name__ == "__main__":
    main()
"""


def test_spawned_workers_use_the_device(tmp_path) -> None:
    """From a file: what is spawned imports the main module."""
    path = tmp_path / "spawned.py"
    path.write_text(SPAWNED)
    run(f"import subprocess, sys; subprocess.run([sys.executable, {str(path)!r}], check=True)")


def test_forked_workers_that_touch_the_device_say_so() -> None:
    run(
        """
import torch
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 2
    def __getitem__(self, index):
        return torch.ones(2, device="tpu") * index
torch.ones(1, device="tpu").item()
try:
    list(torch.utils.data.DataLoader(Data(), num_workers=1))
except RuntimeError as error:
    assert "DataLoader worker" in str(error) and "fork" in str(error) and "spawn" in str(error), error
else:
    raise AssertionError("a forked worker used the device")
assert torch.ones(1, device="tpu").item() == 1
        """
    )


def test_tensors_cannot_be_shared(device) -> None:
    """Nor are they copied behind anybody's back: what is sent to a process is sent from the host."""
    x = torch.ones(2, device=device)
    for value in (x, torch.nn.Parameter(x), x.untyped_storage()):
        with pytest.raises(RuntimeError, match="only available on CPU"):
            ForkingPickler.dumps(value)
    ForkingPickler.dumps(x.cpu())
    assert x.share_memory_() is x  # nothing, as for CUDA: models call it on all that they have
