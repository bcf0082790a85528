"""PyTorch's modes and transforms above the device: default device, gradients, inference, dispatch modes."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.compare import assert_same, assert_same_error
from tests.device import DEVICE


@pytest.fixture
def default_device():
    torch.set_default_device(DEVICE)
    yield
    torch.set_default_device(None)


def test_set_default_device(default_device) -> None:
    for made in (
        torch.ones(2),
        torch.arange(3),
        torch.tensor([1.0]),
        torch.rand(2),
        torch.nn.Linear(2, 2).weight,
        torch.eye(2),
    ):
        assert made.device.type == DEVICE
    assert torch.ones(2, device="cpu").device.type == "cpu"
    assert torch.get_default_device().type == DEVICE


def test_device_context(device) -> None:
    with torch.device(device):
        x = torch.zeros(2, 3)
        layer = torch.nn.LayerNorm(3)
    assert x.device.type == layer.weight.device.type == device
    assert torch.zeros(1).device.type == "cpu"
    assert_same(layer(x), torch.zeros(2, 3))


def test_misses_under_a_default_device(default_device) -> None:
    """Compiling must not be led to the device by the mode that it runs in."""
    assert_same(
        torch.arange(7.0).reshape(7, 1) * torch.arange(5.0),
        torch.arange(7.0, device="cpu").reshape(7, 1) * torch.arange(5.0, device="cpu"),
    )


def test_misses_under_a_default_dtype(device) -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert_same(torch.arange(3, device=device).sqrt(), torch.arange(3).sqrt())
        assert_same(torch.ones(11, device=device, dtype=torch.float32) * 2.5, torch.ones(11, dtype=torch.float32) * 2.5)
    finally:
        torch.set_default_dtype(torch.float32)


def test_no_grad_and_inference_mode(device) -> None:
    x = torch.ones(3, device=device, requires_grad=True)
    with torch.no_grad():
        assert not (x * 2).requires_grad
    with torch.inference_mode():
        y = (x * 2).exp()
        y.add_(1)
        assert y.is_inference() and y[1:].is_inference()
    assert_same(y.clone() * 1, (torch.ones(3) * 2).exp() + 1)
    for use in (
        lambda d, t: t.add_(1).requires_grad_().sum().backward(),
        lambda d, t: (t * torch.ones(3, device=d, requires_grad=True)).sum(),
    ):
        assert_same_error(device, lambda d: use(d, _inference_tensor(d)))


def _inference_tensor(device: str) -> torch.Tensor:
    with torch.inference_mode():
        return torch.ones(3, device=device)


def test_double_backward(device) -> None:
    def run(device: str) -> list[torch.Tensor]:
        x = torch.linspace(0.1, 1, 4).to(device).requires_grad_()
        (first,) = torch.autograd.grad((x.tanh() * x.exp()).sum(), x, create_graph=True)
        return [first, *torch.autograd.grad((first * first).sum(), x)]

    assert_same(run(device), run("cpu"))


def test_hooks_and_checkpoint(device) -> None:
    def run(device: str) -> list:
        seen = []
        layer = torch.nn.Linear(3, 3).to(device)
        torch.nn.init.eye_(layer.weight), torch.nn.init.zeros_(layer.bias)
        layer.register_forward_hook(lambda module, args, output: seen.append(output.sum().item()))
        x = torch.ones(2, 3, device=device, requires_grad=True)
        x.register_hook(lambda gradient: gradient * 2)
        torch.utils.checkpoint.checkpoint(lambda t: layer(t).relu(), x, use_reentrant=False).sum().backward()
        return [seen, x.grad]

    assert_same(run(device), run("cpu"))


def test_dispatch_mode_sees_the_calls(device) -> None:
    class Names(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.names = []

        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            self.names.append(str(op))
            return op(*args, **(kwargs or {}))

    x = torch.ones(23, device=device)
    with Names() as mode:
        (x + 1).relu()
    assert mode.names == ["aten.add.Tensor", "aten.relu.default"]


def test_vmap_and_grad(device) -> None:
    def run(device: str) -> list[torch.Tensor]:
        x = torch.arange(6.0).reshape(2, 3).to(device)
        return [
            torch.vmap(lambda row: (row * 2).sum())(x),
            torch.func.grad(lambda t: (t**2).sum())(x),
            torch.func.vmap(torch.func.grad(lambda row: row.exp().sum()))(x),
            torch.func.jvp(torch.sin, (x,), (torch.ones_like(x),))[1],
        ]

    assert_same(run(device), run("cpu"))


def test_meta_and_fake_tensors_are_left_alone(device) -> None:
    x = torch.ones(2, device="meta") + 1
    assert x.device.type == "meta"
    assert torch.empty_like(x, device=device).device.type == device


def test_modules_move(device) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)).to(device)
    state = {name: tensor.device.type for name, tensor in model.state_dict().items()}
    assert set(state.values()) == {device}
    assert model.to(torch.bfloat16)[0].weight.dtype == torch.bfloat16
    assert model.cpu()[0].weight.device.type == "cpu"
