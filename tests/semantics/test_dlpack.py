"""DLPack: out to torch on the same device, or as a copy on the host; in from arrays of the host.

The device's memory is opaque: what is exported names its device (kDLExtDev), so that no other library takes its address
for memory of its own.
"""

import numpy as np
import pytest
import torch
from torch.utils.dlpack import DLDeviceType, from_dlpack, to_dlpack

from tests.compare import assert_same
from tests.device import ON_TPU
from tests.runtime.subprocesses import run

HOST = (DLDeviceType.kDLCPU, 0)


def capsules(x: torch.Tensor):
    yield to_dlpack(x)
    yield x.__dlpack__()
    yield x.__dlpack__(max_version=(1, 0))


def test_capsules_alias(device) -> None:
    x = torch.zeros(2, 3, device=device)
    for capsule in capsules(x):
        alias = from_dlpack(capsule)
        assert alias.device == x.device and alias.data_ptr() == x.data_ptr()
        alias.add_(1)
        assert_same(x, alias.cpu())
    assert x.sum().item() == 18
    x.mul_(2)
    assert alias.tolist() == x.tolist()


VIEWS = {
    "row": lambda t: t[1],
    "columns": lambda t: t[:, 1:],
    "steps": lambda t: t[1:, ::2],
    "transposed": lambda t: t.t()[1:],
    "element": lambda t: t[1, 2],
    "expanded": lambda t: t[1].expand(2, 4),
    "diagonal": lambda t: t.diagonal(1),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_alias(device, view) -> None:
    """A capsule has the address of the first element, and no offset."""

    def program(device: str) -> list:
        x = torch.arange(12.0).reshape(3, 4).to(device)
        y = from_dlpack(to_dlpack(view(x)))
        z, detached = (y[:1], y[None].detach()) if y.dim() else (y.view(1), y.detach())  # before anybody used y
        results = [z.clone(), detached.clone(), y.clone(), y + 1]
        (y[0] if 0 in y.stride() else y).mul_(3)
        x.view(-1)[1:].add_(1)
        return [*results, x, y, z, detached]

    assert_same(program(device), program("cpu"), strides=False)


def test_views_into_the_host(device) -> None:
    x = torch.arange(12.0).reshape(3, 4).to(device)
    alias = from_dlpack(to_dlpack(x[1:, 1:]))
    alias.copy_(torch.full((2, 3), 9.0))
    assert from_dlpack(to_dlpack(x[2])).tolist() == [8, 9, 9, 9]
    assert from_dlpack(to_dlpack(x[1, 0])).item() == 4
    assert_same(from_dlpack(to_dlpack(x[:, 3])), torch.tensor([3.0, 9, 9]), strides=False)


def test_an_alias_outlives_what_it_was_made_of(device) -> None:
    x = torch.arange(4.0).to(device)
    whole, part = from_dlpack(to_dlpack(x)), from_dlpack(to_dlpack(x[2:]))
    del x
    torch.zeros(4, device=device)
    assert whole.tolist() == [0, 1, 2, 3] and (part + 1).tolist() == [3, 4]
    del whole
    assert part.tolist() == [2, 3]


DTYPES = (torch.bool, torch.uint8, torch.int64, torch.uint16, torch.float16, torch.bfloat16, torch.complex32, torch.complex64)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes(device, dtype) -> None:
    x = torch.tensor([0, 1, 2]).to(dtype)
    assert_same(from_dlpack(x.to(device).__dlpack__(max_version=(1, 0))), x)
    assert_same(from_dlpack(x.to(device).__dlpack__(dl_device=HOST, max_version=(1, 0))), x)


def test_what_cannot_be_exported(device) -> None:
    with pytest.raises(BufferError, match="require gradient"):
        torch.ones(2, device=device, requires_grad=True).__dlpack__()
    with pytest.raises(BufferError, match="conjugate bit"):
        torch.ones(2, dtype=torch.complex64, device=device).conj().__dlpack__()


def test_out_to_the_host(device) -> None:
    """What asks for the host gets a copy, or no for an answer."""
    x = torch.arange(6.0).reshape(2, 3).to(device)
    for source in (x, x[1], x.t()):
        host = np.from_dlpack(source, device="cpu")
        assert host.tolist() == source.tolist()
    if ON_TPU:
        with pytest.raises(ValueError, match="copy=False"):
            np.from_dlpack(x, device="cpu", copy=False)
        with pytest.raises(RuntimeError, match="Unsupported device"):  # numpy's answer for CUDA as well
            np.from_dlpack(x)
        with pytest.raises(TypeError, match="Use Tensor.cpu"):
            np.asarray(x)


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_from_dlpack_aliases(device, view) -> None:
    def program(device: str) -> list:
        x = torch.arange(12.0).reshape(3, 4).to(device)
        part = view(x)
        aliases = [
            torch.from_dlpack(part),
            torch.from_dlpack(part, device=x.device),
            torch.from_dlpack(part, copy=False),
            torch.from_dlpack(part, device=f"{device}:0" if device != "cpu" else device, copy=False),
        ]
        assert all(alias.device == x.device and alias.data_ptr() == part.data_ptr() for alias in aliases)
        x.add_(1)
        aliases[0].view(-1)[:1].mul_(3) if aliases[0].is_contiguous() else aliases[0].select(0, 0).zero_()
        return [x, *aliases]

    assert_same(program(device), program("cpu"))


def test_from_dlpack_copies(device) -> None:
    x = torch.arange(6.0).reshape(2, 3).to(device)
    copies = [torch.from_dlpack(x, copy=True), torch.from_dlpack(x.t(), device=x.device, copy=True)]
    hosts = [torch.from_dlpack(x, device="cpu"), torch.from_dlpack(x, device="cpu", copy=True)]
    x.zero_()
    assert all(copy.device == x.device for copy in copies)
    assert copies[0].tolist() == copies[1].t().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert hosts[1].device.type == "cpu" and hosts[1].tolist() == [[0, 1, 2], [3, 4, 5]]
    if ON_TPU:
        assert hosts[0].device.type == "cpu" and hosts[0].tolist() == [[0, 1, 2], [3, 4, 5]]
        with pytest.raises(ValueError, match="without copying"):
            torch.from_dlpack(x, device="cpu", copy=False)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_from_dlpack_dtypes(device, dtype) -> None:
    x = torch.tensor([[0, 1], [2, 3]]).to(dtype)
    assert_same(torch.from_dlpack(x.to(device)), x)
    assert_same(torch.from_dlpack(x.to(device), copy=True), x)
    assert torch.from_dlpack(x.to(device)[:0]).shape == (0, 2)


def test_the_device_that_is_named() -> None:
    """Ours is an extension device. Of all else torch decides, subclasses that override it included."""
    x = torch.ones(2, device="tpu")
    assert x.__dlpack_device__() == torch.nn.Parameter(x).__dlpack_device__() == (DLDeviceType.kDLExtDev, 0)
    assert torch.ones(2).__dlpack_device__() == HOST
    with pytest.raises(ValueError, match="Unknown device type meta"):
        torch.ones(2, device="meta").__dlpack_device__()

    class Elsewhere(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            if function is torch.Tensor.__dlpack_device__:
                return (DLDeviceType.kDLCPU, 7)
            return super().__torch_function__(function, types, args, kwargs)

    class Plain(torch.Tensor):
        pass

    assert x.as_subclass(Elsewhere).__dlpack_device__() == (DLDeviceType.kDLCPU, 7)
    assert x.as_subclass(Plain).__dlpack_device__() == (DLDeviceType.kDLExtDev, 0)


def test_torch_is_patched_once() -> None:
    from torchtpu import dlpack

    patched = torch.Tensor.__dlpack_device__
    dlpack.install()
    assert torch.Tensor.__dlpack_device__ is patched and patched.__qualname__ == "Tensor.__dlpack_device__"


def test_in_from_numpy(device) -> None:
    for array in (np.arange(6.0).reshape(2, 3), np.arange(12)[::2], np.array(3), np.zeros((0, 2), np.int8)):
        for moved in (
            torch.from_dlpack(array).to(device),
            torch.from_dlpack(array, device=device),
            torch.from_dlpack(array, device=device, copy=True),
            torch.asarray(array, device=device),
            torch.as_tensor(array, device=device),
        ):
            assert moved.device.type == device
            assert_same(moved, torch.from_numpy(array.copy()), strides=False)


def test_in_and_out_with_jax() -> None:
    """JAX lives beside the device in one process: arrays go from one to the other through the host."""
    run(
        """
import jax, jax.numpy as jnp, numpy as np, torch
jax.config.update("jax_platforms", "cpu")
array = jnp.arange(6.0).reshape(2, 3)
for moved in (torch.from_dlpack(array).to("tpu"), torch.from_dlpack(array, device="tpu"),
              torch.from_dlpack(array, device="tpu", copy=True), torch.as_tensor(np.array(array), device="tpu")):
    assert moved.device.type == "tpu" and moved.tolist() == [[0, 1, 2], [3, 4, 5]]
    moved.add_(1)
assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
half = torch.from_dlpack(array.astype(jnp.bfloat16)).to("tpu")
assert half.dtype == torch.bfloat16 and half.sum().item() == 15
back = jax.dlpack.from_dlpack((half + 1).cpu())
assert back.dtype == jnp.bfloat16 and back.sum() == 21
assert jnp.asarray(moved.cpu()).shape == jnp.asarray(np.from_dlpack(moved, device="cpu")).shape == (2, 3)
for read in (jax.dlpack.from_dlpack, jnp.from_dlpack):
    try:
        read(moved)
    except (ValueError, TypeError) as error:
        assert "unsupported device" in str(error), error
    else:
        raise AssertionError("JAX took an address that it cannot read")
        """
    )
