"""Ops with an `autograd` formula: one program forward and one backward, and every other kind of gradient all the same."""

import pytest
import torch
from torch import nn

from tests.compare import assert_same
from tests.device import DEVICE, ON_TPU

CELLS = {
    "rnn_tanh": lambda bias: nn.RNNCell(4, 5, bias, "tanh"),
    "rnn_relu": lambda bias: nn.RNNCell(4, 5, bias, "relu"),
    "gru": lambda bias: nn.GRUCell(4, 5, bias),
    "lstm": lambda bias: nn.LSTMCell(4, 5, bias),
}


def _cells(name: str, bias: bool = True) -> list[nn.Module]:
    """The same cell on the CPU and on the device, in float64: what is compared is the formula."""
    torch.manual_seed(0)
    cell = CELLS[name](bias).double()
    copy = CELLS[name](bias).double().to(DEVICE)
    copy.load_state_dict(cell.state_dict())
    return [cell, copy]


def _state(name: str, device: str, requires_grad: bool = True):
    torch.manual_seed(1)
    made = [torch.randn(3, 5, dtype=torch.float64).to(device).requires_grad_(requires_grad) for _ in range(2)]
    return tuple(made) if name == "lstm" else made[0]


def _input(device: str) -> torch.Tensor:
    torch.manual_seed(2)
    return torch.randn(3, 4, dtype=torch.float64).to(device).requires_grad_()


def _first(output) -> torch.Tensor:
    return output[0] if isinstance(output, tuple) else output


def _leaves(name, cell, x, state):
    return [x, *(state if name == "lstm" else [state]), *cell.parameters()]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", CELLS)
def test_gradients(name: str, bias: bool) -> None:
    found = []
    for cell in _cells(name, bias):
        device = next(cell.parameters()).device.type
        x, state = _input(device), _state(name, device)
        output = _first(cell(x, state))
        found.append([output, *torch.autograd.grad(output.square().sum(), _leaves(name, cell, x, state))])
    assert_same(found[1], found[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("which", [0, 1])
def test_one_output_of_two(which: int) -> None:
    found = []
    for cell in _cells("lstm"):
        device = next(cell.parameters()).device.type
        x, state = _input(device), _state("lstm", device)
        found.append(torch.autograd.grad(cell(x, state)[which].sum(), _leaves("lstm", cell, x, state)[:3]))
    assert_same(found[1], found[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CELLS)
def test_frozen_weights(name: str) -> None:
    """The backward computes what is asked for; a cell whose state alone learns has gradients for the state alone."""
    found = []
    for cell in _cells(name):
        cell.requires_grad_(False)
        device = next(cell.parameters()).device.type
        state = _state(name, device)
        output = _first(cell(_input(device).detach(), state))
        found.append(torch.autograd.grad(output.sum(), state if name == "lstm" else [state], allow_unused=True))
        assert cell.weight_ih.grad is None
    assert_same(found[1], found[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CELLS)
def test_double_backward(name: str) -> None:
    found = []
    for cell in _cells(name):
        device = next(cell.parameters()).device.type
        x, state = _input(device), _state(name, device)
        leaves = _leaves(name, cell, x, state)
        first = torch.autograd.grad(_first(cell(x, state)).sin().sum(), leaves, create_graph=True)
        second = torch.autograd.grad(sum(g.square().sum() for g in first), leaves, allow_unused=True)
        found.append([*first, *second])
    assert_same(found[1], found[0], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", ["rnn_tanh", "rnn_relu"])
def test_forward_mode(name: str) -> None:
    found = []
    for cell in _cells(name):
        device = next(cell.parameters()).device.type
        x, state = _input(device).detach(), _state(name, device, requires_grad=False)
        found.append(torch.func.jvp(lambda x: _first(cell(x, state)), (x,), (torch.ones_like(x),)))
    assert_same(found[1], found[0], rtol=1e-12, atol=1e-12)


@pytest.mark.skipif(not ON_TPU, reason="the CPU composes these of other ops")
@pytest.mark.parametrize("name", ["gru", "lstm"])
def test_forward_mode_that_torch_lacks(name: str) -> None:
    """Off the CPU torch composes these of a fused op without a forward derivative, and says so."""
    cell = _cells(name)[1]
    x, state = _input(DEVICE).detach(), _state(name, DEVICE, requires_grad=False)
    with pytest.raises(NotImplementedError, match=f"forward AD with _thnn_fused_{name}_cell"):
        torch.func.jvp(lambda x: _first(cell(x, state)), (x,), (torch.ones_like(x),))


@pytest.mark.parametrize("name", CELLS)
def test_transforms(name: str) -> None:
    """Gradients of every row by itself: vmap over grad."""
    found = []
    for cell in _cells(name):
        device = next(cell.parameters()).device.type
        x, state = _input(device).detach(), _state(name, device, requires_grad=False)
        rows = tuple(s[:, None] for s in state) if name == "lstm" else state[:, None]
        dims = (0, (0, 0)) if name == "lstm" else (0, 0)
        per_row = torch.func.vmap(torch.func.grad(lambda x, s: _first(cell(x, s)).sum()), in_dims=dims)
        found.append(per_row(x[:, None], rows))
    assert_same(found[1], found[0], rtol=1e-12, atol=1e-12)


def test_twice_through_the_same_graph() -> None:
    for cell in _cells("gru"):
        device = next(cell.parameters()).device.type
        output = cell(_input(device), _state("gru", device))
        output.sum().backward(retain_graph=True)
        output.sum().backward()
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            output.sum().backward()


def test_no_graph_where_none_is_wanted() -> None:
    for cell in _cells("gru"):
        device = next(cell.parameters()).device.type
        with torch.no_grad():
            assert cell(_input(device), _state("gru", device)).grad_fn is None
        with torch.inference_mode():
            assert cell(_input(device), _state("gru", device)).is_inference()


def test_saved_tensor_that_was_changed() -> None:
    for cell in _cells("gru"):
        device = next(cell.parameters()).device.type
        x = _input(device) * 1
        output = cell(x, _state("gru", device))
        x.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            output.sum().backward()


@pytest.mark.skipif(not ON_TPU, reason="about programs of the device")
def test_a_step_is_one_program_each_way() -> None:
    cell = nn.GRUCell(4, 5).to(DEVICE)
    x, state, weight = (torch.randn(3, n, device=DEVICE) for n in (4, 5, 5))

    def executions(body) -> int:
        body()  # compiles
        before = torch.tpu.cache_stats()["hits"]
        body()
        return torch.tpu.cache_stats()["hits"] - before

    assert executions(lambda: cell(x, state)) == 1
    output = cell(x, state)
    assert executions(lambda: torch.autograd.grad(output, list(cell.parameters()), weight, retain_graph=True)) == 1
