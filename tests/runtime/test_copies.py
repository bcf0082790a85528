"""Tensors to the device and back, between dtypes, layouts and storages."""

import copy
import io

import numpy as np
import pytest
import torch

from tests.compare import assert_same, assert_same_error

DTYPES = (
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32,
    torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128,
)  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_round_trip(device, dtype) -> None:
    x = torch.arange(12).reshape(3, 4).to(dtype)
    assert_same(x.to(device), x)
    assert_same(x.to(device).t(), x.t())
    assert_same(x.to(device)[1:, ::2], x[1:, ::2])
    assert_same(x[1, 2].to(device), x[1, 2])
    assert_same(x[:0].to(device), x[:0])


@pytest.mark.parametrize("source", (torch.float32, torch.int64, torch.bool, torch.bfloat16), ids=str)
def test_conversion(device, source) -> None:
    x = torch.tensor([0, 1, 2, 3, 100]).to(source)
    for target in (
        torch.float32,
        torch.float64,
        torch.bfloat16,
        torch.int64,
        torch.int32,
        torch.uint8,
        torch.bool,
        torch.complex64,
    ):
        assert_same(x.to(device).to(target), x.to(target))
        assert_same(x.to(device, target), x.to(target))
        assert_same(torch.zeros(5, dtype=target, device=device).copy_(x), x.to(target))
        assert_same(torch.zeros(5, dtype=target).copy_(x.to(device)), x.to(target))


def test_strided_sources_and_targets(device) -> None:
    x = torch.arange(24.0).reshape(4, 6)
    for source in (x.t(), x[::2, 1:], x[1].expand(3, 6), x.as_strided((3, 3), (1, 1))):
        assert_same(source.to(device), source.to("cpu", copy=True) if source.is_contiguous() else source, strides=False)
        target = torch.zeros(12, 12, device=device)[1 : 1 + source.shape[0], ::2][:, : source.shape[1]]
        assert_same(target.copy_(source), source, strides=False)
        host = torch.zeros(source.shape[::-1]).t()
        assert_same(host.copy_(source.to(device)), source, strides=False)
    assert x.t().to(device).stride() == x.t().to("cpu", copy=True).stride()


def test_broadcast_copy(device) -> None:
    assert_same(torch.zeros(2, 3, device=device).copy_(torch.arange(3)), torch.arange(3.0).expand(2, 3), strides=False)
    assert_same_error(device, lambda d: torch.zeros(2, 3, device=d).copy_(torch.ones(4, device=d)))


def test_source_may_change_afterwards(device) -> None:
    for source in (torch.ones(3), torch.ones(1 << 20), torch.from_numpy(np.ones(4, np.float32))):
        for non_blocking in (False, True):
            moved = source.fill_(1).to(device, non_blocking=non_blocking, copy=True)
            source.fill_(2)
            assert moved.sum().item() == source.numel()


def test_to_returns_self_or_a_copy(device) -> None:
    x = torch.ones(2, device=device)
    assert x.to(device) is x and x.to(x.device) is x and x.to(torch.float32) is x
    assert x.to(device, copy=True) is not x


def test_memory_formats(device) -> None:
    x = torch.arange(120.0).reshape(2, 3, 4, 5)
    for layout in (torch.channels_last, torch.contiguous_format, torch.preserve_format):
        ours, theirs = (
            x.to(device).contiguous(memory_format=torch.channels_last),
            x.contiguous(memory_format=torch.channels_last),
        )
        assert_same(ours.clone(memory_format=layout), theirs.clone(memory_format=layout))
        assert_same(
            torch.empty_like(ours, memory_format=layout).fill_(1),
            torch.empty_like(theirs, memory_format=layout).fill_(1),
        )
        assert_same(ours + 1, theirs + 1)
    assert x.to(device).to(memory_format=torch.channels_last).is_contiguous(memory_format=torch.channels_last)
    assert x.contiguous(memory_format=torch.channels_last).to(device).stride() == (60, 1, 15, 3)


def test_data_ptr(device) -> None:
    """Unique, stable, not null, and with the offset of a view: libraries find tied weights by it."""
    tensors = [torch.empty(4, 4, device=device) for _ in range(50)]
    pointers = [tensor.data_ptr() for tensor in tensors]
    assert 0 not in pointers and len(set(pointers)) == 50
    spans = sorted(pointers)
    assert all(right - left >= 64 for left, right in zip(spans, spans[1:]))
    x = tensors[0].fill_(1)
    x.add_(1)
    assert x.data_ptr() == pointers[0] == x.untyped_storage().data_ptr()
    assert x[1].data_ptr() == pointers[0] + 16
    assert x.detach().data_ptr() == x.view(-1).data_ptr() == pointers[0]
    assert torch.empty(0, device=device).data_ptr() == torch.empty(0).data_ptr() == 0


def test_item_and_tolist(device) -> None:
    x = torch.tensor([[1.5, 2.5], [3.5, -4.5]], device=device)
    assert x.tolist() == [[1.5, 2.5], [3.5, -4.5]] and x[1, 1].item() == -4.5
    assert (
        float(x[0, 0]) == 1.5 and int(torch.tensor(3, device=device)) == 3 and bool(torch.tensor(True, device=device))
    )
    assert torch.tensor(1 + 2j, device=device).item() == 1 + 2j
    assert [row.tolist() for row in x] == x.tolist() and len(x) == 2
    assert list(range(5))[torch.tensor(2, device=device)] == 2
    assert_same_error(device, lambda d: torch.ones(2, device=d).item())
    assert_same_error(device, lambda d: bool(torch.ones(2, device=d)))


def test_numpy_needs_the_cpu(device) -> None:
    x = torch.ones(2, device=device)
    assert x.cpu().numpy().tolist() == [1, 1]
    if device != "cpu":
        with pytest.raises(TypeError, match="can't convert tpu:0 device type tensor to numpy"):
            x.numpy()


def test_construction(device) -> None:
    assert_same(torch.tensor([[1, 2], [3, 4]], device=device), torch.tensor([[1, 2], [3, 4]]))
    assert_same(torch.as_tensor(np.arange(3), device=device), torch.arange(3))
    assert_same(torch.tensor([], device=device), torch.tensor([]))
    assert_same(torch.tensor(True, device=device), torch.tensor(True))
    x = torch.zeros(2, 3, device=device)
    assert_same(x.new_full((2,), 7.0), torch.full((2,), 7.0))
    assert_same(x.new_tensor([1, 2]), torch.tensor([1.0, 2.0]))
    for make in (torch.zeros_like, torch.ones_like):
        assert_same(make(x), make(x.cpu()))


def test_deepcopy_keeps_sharing(device) -> None:
    x = torch.arange(6.0).to(device)
    first, second = copy.deepcopy((x, x[2:4]))
    first.add_(1)
    assert_same((first, second, x), (torch.arange(6.0) + 1, torch.tensor([3.0, 4.0]), torch.arange(6.0)))
    layer = torch.nn.Linear(2, 2).to(device)
    twin = copy.deepcopy(layer)
    twin.weight.data.zero_()
    assert layer.weight.abs().sum().item() > 0 and twin.weight.device == layer.weight.device


def test_save_and_load(device) -> None:
    x = torch.arange(6.0).reshape(2, 3).to(device)
    saved = {"x": x, "row": x[1], "layer": torch.nn.Linear(2, 2).to(device).state_dict()}
    file = io.BytesIO()
    torch.save(saved, file)
    file.seek(0)
    there = torch.load(file, weights_only=True)
    assert there["x"].device == x.device
    there["x"].add_(1)
    assert_same(there["row"], torch.tensor([4.0, 5.0, 6.0]))
    file.seek(0)
    here = torch.load(file, map_location="cpu", weights_only=True)
    assert here["x"].device.type == "cpu"
    assert_same(saved["layer"], here["layer"])
    file = io.BytesIO()
    torch.save(torch.arange(3), file)
    file.seek(0)
    assert torch.load(file, map_location=device, weights_only=True).device.type == device


def test_printing(device) -> None:
    shown = (
        torch.tensor([[1.0, 2.5], [1e-3, -4.0]]),
        torch.arange(2000),
        torch.tensor([True, False]),
        torch.zeros(0),
        torch.tensor(3),
        torch.tensor([1 + 2j]),
        torch.ones(2, dtype=torch.bfloat16),
        torch.tensor([float("nan"), float("inf")]),
        torch.ones(2, requires_grad=True),
    )
    for x in shown:
        text = repr(x.detach().to(device).requires_grad_(x.requires_grad))
        assert f"device='{device}:0'" in text or device == "cpu"
        assert text.replace(f", device='{device}:0'", "").split() == repr(x).split()


def test_storage_sharing(device) -> None:
    x = torch.zeros(4, device=device)
    y = torch.empty(0, device=device).set_(x.untyped_storage(), 1, (2,), (1,))
    y.fill_(5)
    assert_same(x, torch.tensor([0.0, 5, 5, 0]))
    assert y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() and y.untyped_storage().nbytes() == 16


def test_resize(device) -> None:
    def run(device: str) -> list:
        x = torch.arange(6.0, device=device)
        x.resize_(2, 2)
        y = torch.arange(3.0, device=device).resize_(5)
        y[3:] = 9
        z = torch.empty(0, device=device)
        z.resize_(3).fill_(2)
        return [x, y, z, x.untyped_storage().nbytes(), y.untyped_storage().nbytes()]

    assert_same(run(device), run("cpu"))
