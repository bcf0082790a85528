"""What is in the key of a program, and what is not: one ingredient flipped between two otherwise equal calls."""

import contextlib

import pytest
import torch

from tests.compare import assert_same
from tests.device import compiles


def test_numbers_are_operands(device) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    moved = x.to(device)
    for op in (
        lambda t, n: t * n,
        lambda t, n: t + n,
        lambda t, n: torch.add(t, t, alpha=n),
        lambda t, n: t.clamp(max=n),
        lambda t, n: torch.full_like(t, n),
    ):
        op(moved, 0.5)
        with compiles(at_most=0):
            results = [op(moved, n) for n in (0.25, -3.5, 1e-8)]
        assert_same(results, [op(x, n) for n in (0.25, -3.5, 1e-8)])


def test_learning_rate_is_an_operand(device) -> None:
    layer = torch.nn.Linear(3, 2).to(device)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)

    def step(rate: float) -> None:
        optimizer.param_groups[0]["lr"] = rate
        layer(torch.ones(4, 3, device=device)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    step(0.1), step(0.1)
    with compiles(at_most=0):
        for rate in (0.05, 0.025, 0.0125):
            step(rate)


def test_int_and_float_numbers(device) -> None:
    x = torch.arange(3).to(device)
    assert (x * 2).dtype == torch.int64 and (x * 2.0).dtype == torch.float32
    assert_same(
        [x * 2, x * 2.5, x * 3, x * True, x * (1 + 1j)],
        [y * n for y in [torch.arange(3)] for n in (2, 2.5, 3, True, 1 + 1j)],
    )


def test_large_numbers(device) -> None:
    x = torch.tensor([1, 2]).to(device)
    for n in (2**62, -(2**63), 2**33 + 1, 255, -1):
        assert_same(x.bitwise_xor(n), torch.tensor([1, 2]).bitwise_xor(n))
    y = torch.tensor([1.0], dtype=torch.float64)
    assert_same(y.to(device) + 1e-12, y + 1e-12, rtol=0, atol=0)
    assert_same(
        torch.tensor([1], dtype=torch.int32).to(device) + (2**31 - 2), torch.tensor([2**31 - 1], dtype=torch.int32)
    )


# Each case: two calls that differ in one thing.
def _dtype(d):
    return [
        torch.arange(4, dtype=dtype, device=d) + 1
        for dtype in (torch.float32, torch.int64, torch.int32, torch.bfloat16, torch.float64)
    ]


def _sizes(d):
    return [torch.ones(shape, device=d).cumsum(0) for shape in ((2, 3), (3, 2), (6,), (1, 6), (2, 3, 1))]


def _strides(d):
    x = torch.arange(9.0, device=d).reshape(3, 3)
    return [x.cumsum(0), x.t().cumsum(0), x.t().contiguous().cumsum(0)]


def _base_shape(d):
    return [torch.arange(12.0, device=d).reshape(base).view(-1)[3:5] * 2 for base in ((12,), (3, 4), (4, 3), (2, 6))]


def _view_class(d):
    x = torch.arange(64.0, device=d).reshape(8, 8)
    return [x.view(-1)[5:8] * 2, x.view(-1)[6:9] * 2, x.view(-1)[13:16] * 2, x.view(-1)[60:63] * 2]


def _conjugate(d):
    z = torch.tensor([1 + 2j, 3 - 1j], device=d)
    return [z * 2, z.conj() * 2, z.conj().conj() * 2, z.conj().imag * 2, z.imag * 2]


def _wrapped_number(d):
    x = torch.ones(2, dtype=torch.float16, device=d)
    return [x * 2.5, x * torch.tensor(2.5, device=d), x * torch.tensor(2.5), x * torch.tensor([2.5], device=d), 2.5 * x]


def _wrapped_integer(d):
    x = torch.ones(2, dtype=torch.int8, device=d)
    return [x + 1, x + torch.tensor(1, device=d), x + torch.tensor([1], device=d), x + 1.0]


def _same_storage(d):
    x, y = torch.ones(3, device=d), torch.full((3,), 5.0, device=d)
    return [torch.add(x, x), torch.add(x, y), torch.add(y, x), torch.add(x, x.view(3)), torch.add(y, y)]


def _same_storage_written(d):
    x, y = torch.arange(4.0, device=d), torch.ones(4, device=d)
    return [
        x.add_(y).clone(),
        x.add_(x).clone(),
        y.add_(x).clone(),
        x.mul_(x.flip(0)).clone(),
        x[:2].add_(x[2:]).clone(),
        x,
    ]


def _default_dtype(d):
    results = [torch.arange(3, device=d) / 2]
    try:
        torch.set_default_dtype(torch.float64)
        results += [torch.arange(3, device=d) / 2, torch.full((2,), 1.5, device=d)]
    finally:
        torch.set_default_dtype(torch.float32)
    return [*results, torch.arange(3, device=d) / 2]


def _static_arguments(d):
    x = torch.arange(24.0, device=d).reshape(2, 3, 4)
    return [x.sum(0), x.sum(1), x.sum(-1), x.sum((0, 2)), x.sum(), x.sum(0, keepdim=True), x.sum([])]


def _optional_arguments(d):
    x = torch.linspace(-2, 2, 5, device=d)
    return [x.clamp(min=-1), x.clamp(max=1), x.clamp(-1, 1), x.clamp(min=-1.0, max=None)]


def _rounding_mode(d):
    x = torch.tensor([-7.0, 7.0], device=d)
    return [x.div(2), x.div(2, rounding_mode="floor"), x.div(2, rounding_mode="trunc")]


def _number_that_is_special(d):
    x = torch.tensor([1.0, 4.0, 9.0], device=d)
    return [x**2, x**0.5, x**3, x**2.5, x**1, x**0, torch.add(x, x, alpha=1), torch.add(x, x, alpha=2)]


def _list_lengths(d):
    x = torch.ones(2, 2, device=d)
    return [torch.cat([x]), torch.cat([x, x]), torch.cat([x, x, x]), torch.cat([x, x], 1)]


CASES = [
    case
    for name, case in list(globals().items())
    if name.startswith("_") and callable(case) and not name.startswith("__")
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__.strip("_"))
def test_flip(device, case) -> None:
    """Twice, so that every call is once a miss and once a hit beside its likes."""
    expected = case("cpu")
    assert_same(case(device), expected)
    assert_same(case(device), expected)


@contextlib.contextmanager
def _precision(name: str):
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(name)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def test_matmul_precision(device) -> None:
    """Its own program for each precision; "highest" keeps all bits."""
    x = torch.randn(16, 16)
    moved = x.to(device)
    for name in ("highest", "high", "medium", "highest"):
        with _precision(name):
            assert_same(moved @ moved, x @ x, **({} if name == "highest" else {"rtol": 0.02, "atol": 0.05}))


def test_deterministic_mode(device) -> None:
    x = torch.zeros(4)
    index = torch.tensor([0, 0, 1])
    before = x.to(device).index_add(0, index.to(device), torch.ones(3, device=device))
    torch.use_deterministic_algorithms(True)
    try:
        after = x.to(device).index_add(0, index.to(device), torch.ones(3, device=device))
    finally:
        torch.use_deterministic_algorithms(False)
    assert_same([before, after], [x.index_add(0, index, torch.ones(3))] * 2)
