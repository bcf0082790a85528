"""Wrong calls raise what they raise on the CPU: the same type, the same words."""

import pytest
import torch

from tests.compare import Failure, assert_same, assert_same_error, assert_same_outcome
from tests.device import DEVICE, ON_TPU

SHAPES = {
    "broadcast": lambda d: torch.ones(2, device=d) + torch.ones(3, device=d),
    "matmul": lambda d: torch.ones(2, 3, device=d) @ torch.ones(2, 3, device=d),
    "mm": lambda d: torch.mm(torch.ones(3, device=d), torch.ones(3, device=d)),
    "bmm": lambda d: torch.bmm(torch.ones(2, 3, 4, device=d), torch.ones(3, 4, 5, device=d)),
    "view": lambda d: torch.ones(2, 3, device=d).view(4),
    "view of strides": lambda d: torch.ones(2, 3, device=d).t().view(6),
    "reshape": lambda d: torch.ones(2, 3, device=d).reshape(-1, 4),
    "cat": lambda d: torch.cat([torch.ones(2, 2, device=d), torch.ones(3, 3, device=d)]),
    "stack": lambda d: torch.stack([torch.ones(2, device=d), torch.ones(3, device=d)]),
    "expand": lambda d: torch.ones(2, device=d).expand(3),
    "linear": lambda d: torch.nn.functional.linear(torch.ones(2, 3, device=d), torch.ones(4, 5, device=d)),
    "conv2d": lambda d: torch.nn.functional.conv2d(torch.ones(1, 3, 8, 8, device=d), torch.ones(4, 2, 3, 3, device=d)),
    "layer_norm": lambda d: torch.nn.functional.layer_norm(torch.ones(2, 3, device=d), (4,)),
    "cross_entropy": lambda d: torch.nn.functional.cross_entropy(
        torch.ones(2, 3, device=d), torch.ones(3, dtype=torch.int64, device=d)
    ),
    "as_strided": lambda d: torch.ones(4, device=d).as_strided((3, 3), (2, 2)),
    "negative size": lambda d: torch.ones(-1, device=d),
}
INDICES = {
    "select": lambda d: torch.ones(2, device=d)[2],
    "dim": lambda d: torch.ones(2, device=d).sum(1),
    "repeated dim": lambda d: torch.ones(2, 2, device=d).sum((0, 0)),
    "transpose": lambda d: torch.ones(2, device=d).transpose(0, 1),
    "permute": lambda d: torch.ones(2, 2, device=d).permute(0, 0),
    "too many": lambda d: torch.ones(2, device=d)[0, 0],
    "index": lambda d: torch.ones(3, device=d)[torch.tensor([0, 3], device=d)],
    "negative index": lambda d: torch.ones(3, device=d)[torch.tensor([-4], device=d)],
    "assignment": lambda d: torch.ones(3, device=d).__setitem__(torch.tensor([5], device=d), 1.0),
    "mask": lambda d: torch.ones(3, device=d)[torch.tensor([True, False], device=d)],
    "gather": lambda d: torch.ones(3, device=d).gather(0, torch.tensor([3], device=d)),
    "scatter": lambda d: torch.zeros(3, device=d).scatter_(0, torch.tensor([7], device=d), 1.0),
    "index_select": lambda d: torch.ones(3, device=d).index_select(0, torch.tensor([3], device=d)),
    "embedding": lambda d: torch.nn.functional.embedding(torch.tensor([4], device=d), torch.ones(4, 2, device=d)),
    "target": lambda d: torch.nn.functional.cross_entropy(torch.ones(2, 3, device=d), torch.tensor([0, 3], device=d)),
    "topk": lambda d: torch.ones(3, device=d).topk(4),
}
DTYPES = {
    "mm": lambda d: torch.ones(2, 2, device=d) @ torch.ones(2, 2, dtype=torch.int64, device=d),
    "float index": lambda d: torch.ones(3, device=d)[torch.ones(2, device=d)],
    "gather": lambda d: torch.ones(3, device=d).gather(0, torch.ones(1, device=d)),
    "bitwise": lambda d: torch.ones(2, device=d) & torch.ones(2, device=d),
    "bool minus": lambda d: torch.ones(2, dtype=torch.bool, device=d) - torch.ones(2, dtype=torch.bool, device=d),
    "alpha": lambda d: torch.add(torch.ones(2, dtype=torch.int64, device=d), 1, alpha=0.5),
    "mean": lambda d: torch.ones(2, dtype=torch.int64, device=d).mean(),
    "var": lambda d: torch.ones(5, dtype=torch.int64, device=d).var(),
    "std_mean": lambda d: torch.std_mean(torch.ones(5, dtype=torch.int64, device=d)),
    "norm": lambda d: torch.ones(2, 2, dtype=torch.int64, device=d).norm(dim=1),
    "softmax": lambda d: torch.ones(5, dtype=torch.int64, device=d).softmax(0),
    "layer_norm": lambda d: torch.nn.functional.layer_norm(torch.ones(2, 3, dtype=torch.int64, device=d), (3,)),
    "erfinv_": lambda d: torch.ones(5, dtype=torch.int64, device=d).erfinv_(),
    "complex order": lambda d: torch.ones(2, dtype=torch.complex64, device=d) < 1,
    "gradient": lambda d: torch.ones(2, dtype=torch.int64, device=d, requires_grad=True),
    "masked_fill": lambda d: torch.ones(2, device=d).masked_fill(torch.ones(2, device=d), 1),
}
VALUES = {
    "integer division": lambda d: (
        torch.ones(2, dtype=torch.int64, device=d) // torch.zeros(2, dtype=torch.int64, device=d)
    ),
    "integer remainder": lambda d: torch.ones(2, dtype=torch.int64, device=d) % 0,
    "integer power": lambda d: torch.ones(2, dtype=torch.int64, device=d) ** -1,
    "uniform": lambda d: torch.ones(2, device=d).uniform_(2, 1),
    "normal": lambda d: torch.ones(2, device=d).normal_(0, -1),
    "bernoulli": lambda d: torch.ones(2, device=d).bernoulli_(1.5),
    "random": lambda d: torch.ones(2, device=d).random_(3, 3),
    "randint": lambda d: torch.randint(3, 3, (2,), device=d),
    "arange": lambda d: torch.arange(0, 5, -1, device=d),
    "multinomial": lambda d: torch.multinomial(torch.zeros(3, device=d), 1),
    "dropout": lambda d: torch.nn.functional.dropout(torch.ones(2, device=d), 1.5),
    "fill": lambda d: torch.zeros(2, dtype=torch.uint8, device=d).fill_(300),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(device, name) -> None:
    assert_same_error(device, SHAPES[name])


@pytest.mark.parametrize("name", INDICES)
def test_indices(device, name) -> None:
    assert_same_error(device, INDICES[name])


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(device, name) -> None:
    assert_same_error(device, DTYPES[name])


@pytest.mark.parametrize("name", VALUES)
def test_values(device, name) -> None:
    assert_same_error(device, VALUES[name])


def test_value_errors_come_on_a_hit_too(device) -> None:
    x = torch.arange(4).to(device)
    x[torch.tensor([1, 2], device=device)], x // torch.tensor(2, device=device)
    for _ in range(2):
        assert_same_error(device, lambda d: torch.arange(4, device=d)[torch.tensor([1, 9], device=d)])
        assert_same_error(device, lambda d: torch.arange(4, device=d) // torch.tensor(0, device=d))
    assert_same(x[torch.tensor([3, 0], device=device)], torch.tensor([3, 0]))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("channels", [0, 3])
@pytest.mark.parametrize("sizes", [(2, 0, 3), (0, 0), (0, 3, 2)], ids=str)
def test_batch_norm_of_nothing(device, sizes, channels, training) -> None:
    """There are no statistics of nothing. In evaluation no parameter is read, so that they need not fit."""

    def run(device: str) -> tuple[torch.Tensor, ...]:
        parameters = (torch.ones(channels, device=device) for _ in range(4))
        return torch.native_batch_norm(torch.ones(sizes, device=device), *parameters, training, 0.1, 1e-5)

    assert isinstance(assert_same_outcome(lambda: run(device), lambda: run("cpu")), Failure) == training


@pytest.mark.skipif(not ON_TPU, reason="PyTorch's own kernel reads what is beyond the parameters")
@pytest.mark.parametrize("short", range(4))
def test_batch_norm_of_other_channels(short) -> None:
    parameters = [torch.ones(2 if i == short else 3, device=DEVICE) for i in range(4)]
    with pytest.raises(NotImplementedError, match="batch norm has 2 elements for 3 channels"):
        torch.native_batch_norm(torch.ones(2, 3, 4, device=DEVICE), *parameters, True, 0.1, 1e-5)


@pytest.mark.skipif(not ON_TPU, reason="needs two devices")
@pytest.mark.parametrize(
    "mix",
    (
        lambda x, y: x + y,
        lambda x, y: y + x,
        lambda x, y: x @ y,
        lambda x, y: torch.cat([x, y]),
        lambda x, y: torch.where(x > 0, x, y),
        lambda x, y: torch.nn.functional.linear(x, y),
        lambda x, y: x.add_(y),
        lambda x, y: torch.add(x, x, out=y),
        lambda x, y: x.gather(0, y.long()),
    ),
)
def test_mixed_devices(mix) -> None:
    with pytest.raises(
        RuntimeError,
        match="Expected all tensors to be on the same device|Expected out tensor to have device|expected device tpu",
    ) as caught:
        mix(torch.ones(2, 2, device=DEVICE), torch.ones(2, 2))
    assert "tpu" in str(caught.value) and "cpu" in str(caught.value)


def test_zero_dim_cpu_operands_are_numbers(device) -> None:
    x = torch.arange(3.0)
    for value in (torch.tensor(2.0), torch.tensor(3), torch.tensor(2.5, dtype=torch.float64)):
        assert_same([x.to(device) * value, value - x.to(device)], [x * value, value - x])
    if ON_TPU:
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            x + torch.ones(3, device=DEVICE)


@pytest.mark.skipif(not ON_TPU, reason="about the device's memory")
def test_out_of_memory_names_the_size() -> None:
    """2^44 bytes are reserved at no cost and refused when they are needed; the device works afterwards."""
    x = torch.empty(1 << 44, dtype=torch.uint8, device=DEVICE)
    with pytest.raises(torch.OutOfMemoryError, match="(?s)out of memory.*17592186044416.*in use"):
        x.fill_(1)
    with pytest.raises(torch.OutOfMemoryError, match="1125899906842624 bytes"):
        torch.ones(1 << 50, dtype=torch.uint8, device=DEVICE)
    assert torch.ones(2, device=DEVICE).sum().item() == 2


def test_impossible_sizes(device) -> None:
    assert_same_error(device, lambda d: torch.empty(1 << 62, 1 << 62, device=d))
    assert_same_error(device, lambda d: torch.empty_strided((2, 2), (-1, 1), device=d))
