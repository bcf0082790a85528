"""Tensors to the device and back, between dtypes, layouts and storages."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compare import assert_same, assert_same_error
from tests.device import DEVICE

DTYPES = (
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32,
    torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex32, torch.complex64,
    torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz,
)  # fmt: skip
NO_TPU_DTYPES = (torch.float8_e8m0fnu, torch.float4_e2m1fn_x2, torch.bits8, torch.uint4)


def bits(x: torch.Tensor) -> torch.Tensor:
    """The same tensor on the CPU, in a dtype that can be compared."""
    return x.cpu().view(torch.uint8) if "float8" in str(x.dtype) else x.cpu()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_round_trip(device, dtype) -> None:
    x = torch.arange(12).reshape(3, 4).to(torch.float32).to(dtype)
    for source in (x, x.t(), x[1:, ::2], x[1, 2], x[:0], x[1].expand(2, 4)):
        moved = source.to(device, copy=True)
        assert moved.dtype == dtype and moved.device.type == device
        assert_same(bits(moved), bits(source.clone()))
    ours = x.to(device)
    for view in (lambda t: t.t(), lambda t: t[1:, ::2], lambda t: t[1, 2], lambda t: t[1].expand(2, 4)):
        assert_same(bits(view(ours)), bits(view(x).clone()), strides=False)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_item_of_every_dtype(device, dtype) -> None:
    x = torch.tensor([0.0, 1, 2, 3]).to(dtype)
    ours = x.to(device)
    for i in range(4):
        value = ours[i].item()
        assert value == x[i].item() and type(value) is type(x[i].item())


@pytest.mark.parametrize("dtype", NO_TPU_DTYPES, ids=str)
def test_dtypes_that_xla_does_not_have(dtype) -> None:
    with pytest.raises(NotImplementedError, match="a tpu tensor cannot have dtype"):
        torch.empty(2, dtype=dtype).to("tpu")


def test_quantized_tensors_stay_on_the_cpu() -> None:
    with pytest.raises(NotImplementedError):
        torch.quantize_per_tensor(torch.ones(2), 1, 0, torch.qint8).to("tpu")


@pytest.mark.parametrize("dtype", (torch.complex32, torch.complex64), ids=str)
def test_conjugated_and_negated(device, dtype) -> None:
    z = torch.tensor([[1 + 2j, 3 - 4j], [-5j, 6]]).to(dtype)
    for make in (
        lambda z: z.conj(),
        lambda z: z.conj().imag,
        lambda z: z.t().conj()[1:],
        lambda z: z.imag,
        lambda z: z.real,
    ):
        assert_same(make(z).to(device), make(z).clone(), strides=False)
        assert_same(make(z.to(device)).cpu(), make(z).clone(), strides=False)
        target = torch.zeros_like(make(z)).to(device)
        assert_same(target.copy_(make(z)), make(z).clone(), strides=False)
        host = torch.zeros(make(z).shape, dtype=make(z).dtype)
        assert_same(host.copy_(make(z.to(device))), make(z).clone(), strides=False)
    ours, theirs = z.to(device), z.clone()
    ours.conj()[0].copy_(torch.tensor([7j, 8j]))
    theirs.conj()[0].copy_(torch.tensor([7j, 8j]))
    assert_same(ours, theirs)


SHAPES = ((7,), (3, 5), (2, 3, 4))  # few: each new layout of a target is a program


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_strided_sources(data) -> None:
    """Any view of host memory goes to the device, and comes back into any other."""
    shape = data.draw(st.sampled_from(SHAPES))
    dtype = data.draw(st.sampled_from((torch.float32, torch.int64, torch.bool)))
    strides = tuple(data.draw(st.integers(0, 9)) for _ in shape)
    offset = data.draw(st.integers(0, 5))
    memory = torch.arange(512).remainder(251).to(dtype)
    source = memory.as_strided(shape, strides, offset)
    wanted = data.draw(st.sampled_from((dtype, torch.float32, torch.uint8)))
    moved = source.to(DEVICE, wanted, copy=True)
    expected = source.to("cpu", wanted, copy=True)
    assert_same(moved, expected)
    memory.zero_()  # also of a source that was staged
    assert_same(moved, expected)
    order = data.draw(st.permutations(range(len(shape))))
    host = torch.zeros([2 * shape[i] for i in order], dtype=dtype)[tuple(slice(None, None, 2) for _ in shape)]
    host = host.permute([order.index(i) for i in range(len(shape))])
    assert_same(host.copy_(moved), torch.zeros(shape, dtype=dtype).copy_(expected), strides=False)


COMPLEX = (torch.complex32, torch.complex64, torch.complex128)


@pytest.mark.parametrize("source", (torch.float32, torch.int64, torch.bool, torch.bfloat16, *COMPLEX), ids=str)
def test_conversion(device, source) -> None:
    x = torch.tensor([0, 1, 2, 3, 100j if source.is_complex else 100]).to(source)
    for target in (
        torch.float32,
        torch.float64,
        torch.bfloat16,
        torch.int64,
        torch.int32,
        torch.uint8,
        torch.bool,
        *COMPLEX,
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


LARGE = 1 << 19  # elements: enough for memory to be given away, and for copies by several threads


def sources():
    """Host tensors by the way they came by their memory."""
    yield "small", torch.ones(3)
    yield "large", torch.ones(LARGE)
    yield "strided", torch.ones(2 * LARGE)[::2]
    yield "transposed", torch.ones(512, 1024).t()
    yield "expanded", torch.ones(1).expand(LARGE)
    yield "offset", torch.ones(LARGE + 1)[1:]
    yield "numpy", torch.from_numpy(np.ones(LARGE, np.float32))
    yield "dlpack", torch.from_dlpack(np.ones(LARGE, np.float32))
    yield "buffer", torch.frombuffer(bytearray(np.ones(LARGE, np.float32).tobytes()), dtype=torch.float32)
    yield "pinned", torch.ones(LARGE).pin_memory()
    yield "shared", torch.ones(LARGE).share_memory_()
    yield "negated", torch.full((LARGE,), -1j).conj().imag


@pytest.mark.parametrize("non_blocking", (False, True))
@pytest.mark.parametrize("dtype", (torch.float32, torch.float64), ids=str)
def test_no_source_is_seen_afterwards(device, non_blocking, dtype) -> None:
    """Nor is the target of a write to the source, whichever path the copy takes."""
    for name, source in sources():
        moved = source.to(device, dtype, non_blocking=non_blocking, copy=True)
        (source[:1] if name == "expanded" else source).fill_(2)
        assert moved.sum().item() == source.numel(), name
        moved.add_(1)
        assert source.reshape(-1)[-1].item() == 2, name


@pytest.mark.parametrize("non_blocking", (False, True))
def test_nothing_on_the_device_is_seen_on_the_host_afterwards(device, non_blocking) -> None:
    x = torch.ones(LARGE, device=device)
    for target in (torch.float32, torch.float64):
        host = x.to("cpu", target, non_blocking=non_blocking, copy=True)
        torch.accelerator.synchronize() if device != "cpu" else None
        x.add_(1)
        assert host.sum().item() == LARGE
        host.fill_(9)
        x.sub_(1)
        assert x.sum().item() == LARGE


def test_staged_sources_are_donated_and_shared(device) -> None:
    """What was given to the device for good is memory like any other: written in place, aliased, sent back."""
    for dtype in (torch.float32, torch.bfloat16):
        x = torch.arange(LARGE, dtype=torch.int32).to(device, dtype)
        expected = torch.arange(LARGE, dtype=torch.int32).to(dtype)
        y, z = x.clone(), x[1:]
        x.mul_(2).add_(1)
        assert_same((x, y, z), (expected * 2 + 1, expected, (expected * 2 + 1)[1:]))


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


def test_printing(device) -> None:
    shown = (
        torch.tensor([[1.0, 2.5], [1e-3, -4.0]]),
        torch.arange(2000),
        torch.tensor([True, False]),
        torch.zeros(0),
        torch.tensor(3),
        torch.tensor([1 + 2j]),
        torch.tensor([[1 + 2j, 0.5], [-7j, 1e-3]]).to(torch.complex32),
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
