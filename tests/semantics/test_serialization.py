"""Tensors through files, pickles and deep copies; storages as such."""

import copy
import io
import pickle

import pytest
import safetensors.torch as safetensors
import torch

from tests.compare import assert_same, assert_same_error
from tests.device import ON_TPU
from tests.runtime.subprocesses import run


LAYER = torch.nn.Linear(2, 2)


def example(device: str) -> dict:
    x = torch.arange(6.0).reshape(2, 3).to(device)
    return {
        "x": x,
        "row": x[1],
        "half": x.to(torch.bfloat16),
        "float8": x.to(torch.float8_e5m2),
        "transposed": x.t(),
        "conj": (x + 1j).conj(),
        "complex32": (x + 1j).to(torch.complex32),
        "parameter": torch.nn.Parameter(x.clone()),
        "empty": x[:0],
        "state": copy.deepcopy(LAYER).to(device).state_dict(),
    }


def comparable(saved: dict) -> dict:
    return {**saved, "float8": saved["float8"].view(torch.uint8)}


@pytest.mark.parametrize("mmap", (False, True))
@pytest.mark.parametrize("weights_only", (False, True))
def test_save_and_load(device, tmp_path, mmap, weights_only) -> None:
    path, saved = tmp_path / "saved.pt", example(device)
    torch.save(saved, path)
    there = f"{device}:0" if ON_TPU else device
    for where in (None, "cpu", device, there, torch.device(device), {there: "cpu"}, lambda storage, _: storage):
        loaded = torch.load(path, map_location=where, mmap=mmap, weights_only=weights_only)
        on_host = not (where is None or isinstance(where, torch.device) or where in (device, there))
        assert loaded["x"].device.type == ("cpu" if on_host else device)
        assert_same(comparable(loaded), comparable(example("cpu")))
        assert isinstance(loaded["parameter"], torch.nn.Parameter)
        loaded["x"].add_(1)
        assert_same(loaded["row"], torch.tensor([4.0, 5.0, 6.0]))
    assert_same(saved["x"], torch.arange(6.0).reshape(2, 3))


def test_what_was_saved_on_the_host_is_loaded_onto_the_device(device, tmp_path) -> None:
    path = tmp_path / "saved.pt"
    torch.save(example("cpu"), path)
    for mmap in (False, True):
        loaded = torch.load(path, map_location=device, mmap=mmap)
        assert loaded["x"].device.type == loaded["state"]["weight"].device.type == device
        loaded["x"].zero_()
        assert_same(loaded["row"], torch.zeros(3))
        assert torch.load(path)["x"].sum() == 15  # a file that was mapped is not what was written


def test_a_device_that_is_not_there(tmp_path) -> None:
    path = tmp_path / "saved.pt"
    torch.save(torch.ones(2, device="tpu"), path)
    with pytest.raises(RuntimeError, match="TPU device 7 but torch.tpu.device_count"):
        torch.load(path, map_location="tpu:7")


def test_a_file_needs_a_device_only_where_it_is_loaded_onto_it(tmp_path) -> None:
    """Saved with a tpu, read where there is none."""
    path = tmp_path / "saved.pt"
    torch.save(torch.arange(3, device="tpu"), path)
    run(
        f"""
import torch
assert torch.load({str(path)!r}, map_location="cpu").tolist() == [0, 1, 2] and not torch.tpu.is_initialized()
        """
    )


def test_legacy_format(device) -> None:
    tensor, file = torch.arange(6).to(device), io.BytesIO()
    torch.save(tensor, file, _use_new_zipfile_serialization=False)
    file.seek(0)
    assert_same(torch.load(file, map_location="cpu"), torch.arange(6))


def test_pickle(device) -> None:
    saved = comparable(example(device))
    del saved["complex32"]  # the format of pickles has no name for it
    assert_same_error(device, lambda d: pickle.loads(pickle.dumps(example(d)["complex32"])))
    for name, value in saved.items():
        loaded = pickle.loads(pickle.dumps(value))
        leaf = loaded["weight"] if name == "state" else loaded
        assert leaf.device.type == device and type(leaf) is type(value["weight"] if name == "state" else value)
        assert_same(loaded, pickle.loads(pickle.dumps(torch.utils._pytree.tree_map(lambda t: t.detach().cpu(), value))))


def test_deepcopy_keeps_sharing(device) -> None:
    x = torch.arange(6.0).to(device)
    first, second = copy.deepcopy((x, x[2:4]))
    first.add_(1)
    assert_same((first, second, x), (torch.arange(6.0) + 1, torch.tensor([3.0, 4.0]), torch.arange(6.0)))
    layer = torch.nn.Linear(2, 2).to(device)
    twin = copy.deepcopy(layer)
    twin.weight.data.zero_()
    assert layer.weight.abs().sum().item() > 0 and twin.weight.device == layer.weight.device


def test_storages(device) -> None:
    x = torch.tensor([1, 256, -1], dtype=torch.int16)
    ours, theirs = x.to(device).untyped_storage(), x.clone().untyped_storage()
    assert ours.tolist() == theirs.tolist() == [1, 0, 0, 1, 255, 255]
    assert ours.nbytes() == len(ours) == 6 and ours.device.type == device and ours[3] == 1
    assert ours.cpu().device.type == "cpu" and ours.cpu().tolist() == theirs.tolist()
    assert ours.clone().tolist() == copy.deepcopy(ours).tolist() == theirs.tolist()
    tensor = torch.empty(0, dtype=torch.int16, device=device).set_(ours)
    ours.copy_(torch.tensor([2, 3, 4], dtype=torch.int16).untyped_storage())
    assert tensor.tolist() == [2, 3, 4]
    ours[0] = 7
    assert tensor.tolist() == [7, 3, 4]
    ours.resize_(8)
    assert len(ours) == 8 and ours.tolist()[:6] == [7, 0, 3, 0, 4, 0]
    ours.fill_(0)
    assert tensor.tolist() == [0, 0, 0]
    file = io.BytesIO()
    torch.save(ours, file)
    file.seek(0)
    assert torch.load(file, weights_only=False).device.type == device


def test_storages_move_by_the_name_of_the_device() -> None:
    storage = torch.arange(3).untyped_storage()
    assert storage.tpu().is_tpu and not storage.is_tpu and storage.tpu().tolist() == storage.tolist()


def test_safetensors(device, tmp_path) -> None:
    """Saved from the device as it is. Loaded through the host: safetensors has a list of devices that it knows."""
    path = str(tmp_path / "model.safetensors")
    tensors = {"a": torch.arange(6.0).reshape(2, 3).to(device), "b": torch.ones(3, dtype=torch.bfloat16, device=device)}
    safetensors.save_file(tensors, path)
    loaded = safetensors.load_file(path)
    assert_same({name: tensor.to(device) for name, tensor in loaded.items()}, {k: v.cpu() for k, v in tensors.items()})
    tied = torch.nn.ModuleDict({"first": torch.nn.Linear(2, 2), "second": torch.nn.Linear(2, 2)}).to(device)
    tied["second"].weight = tied["first"].weight
    safetensors.save_model(tied, path)  # finds the tie by data_ptr()
    twin = copy.deepcopy(tied)
    twin["first"].weight.data.zero_()
    safetensors.load_model(twin, path)
    assert_same(twin["second"].weight, tied["first"].weight.detach().cpu())
