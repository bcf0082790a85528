"""What a compiler may be tempted to simplify: products with masks, and identities that NaN and infinity do not obey."""

import pytest
import torch
import torch.nn.functional as F

from tests.compare import assert_same

NAN, INF = float("nan"), float("inf")


def special(device: str, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor([NAN, INF, -INF, 0.0, -0.0, 2.0, NAN, INF], dtype=dtype, device=device)


def mask(device: str) -> torch.Tensor:
    """True for the last three."""
    return torch.arange(8, device=device) > 4


PRODUCTS = {
    "tensor": lambda x, m: x * m,
    "swapped": lambda x, m: m * x,
    "in place": lambda x, m: x.clone().mul_(m),
    "comparison": lambda x, m: x * (x == 2),
    "broadcast": lambda x, m: x[:, None] * m,
    "number": lambda x, m: x * m[0],
    "cast": lambda x, m: x * m.to(x.dtype),
    "scaled": lambda x, m: x * m * 2.0,
    "addcmul": lambda x, m: torch.addcmul(torch.zeros_like(x), x, m.to(x.dtype)),
    "foreach": lambda x, m: torch._foreach_mul([x, x], [m, m]),
    "einsum": lambda x, m: torch.einsum("i,i->i", x, m.to(x.dtype)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.complex64], ids=str)
@pytest.mark.parametrize("name", PRODUCTS)
def test_a_mask_hides_neither_nan_nor_infinity(device, name, dtype) -> None:
    """XLA makes a product with a predicate a selection, in which NaN * False is 0: overflows would go unseen."""
    run = PRODUCTS[name]
    assert_same(run(special(device, dtype), mask(device)), run(special("cpu", dtype), mask("cpu")))


def test_gradients_through_masks(device) -> None:
    def run(device: str) -> list[torch.Tensor]:
        x = torch.ones(8, device=device, requires_grad=True)
        (x * mask(device)).backward(special(device))
        first = x.grad
        x.grad = None
        x.nan_to_num().backward(special(device))
        return [first, x.grad]

    assert_same(run(device), run("cpu"))


def test_dropout_hides_no_overflow(device) -> None:
    x = torch.full((64,), INF, device=device, requires_grad=True)
    y = F.dropout(x, 0.5)
    assert 0 < y.isnan().sum() < 64 and (y.isnan() | y.isinf()).all()
    y.backward(torch.full((64,), NAN, device=device))
    assert x.grad.isnan().all()


IDENTITIES = {
    "x - x": lambda x: x - x,
    "x / x": lambda x: x / x,
    "x * 0": lambda x: x * 0,
    "x * zeros": lambda x: x * torch.zeros_like(x),
    "0 / x": lambda x: 0 / x,
    "x ** 0": lambda x: x**0,
    "x + 0": lambda x: x + 0,
    "x + -x": lambda x: x + -x,
    "x * 1": lambda x: 1 / (x * 1),
    "-(-x)": lambda x: 1 / -(-x),
    "0 - x": lambda x: 1 / (0 - x),
    "maximum": lambda x: torch.maximum(x, torch.full_like(x, -INF)),
    "clamp": lambda x: x.clamp(-INF, INF),
    "where": lambda x: torch.where(x == x, x, 0.0),
    "x == x": lambda x: x == x,
    "sqrt": lambda x: x.sqrt() * x.sqrt(),
    "exp(log)": lambda x: x.log().exp(),
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_identities(device, name) -> None:
    assert_same(IDENTITIES[name](special(device)), IDENTITIES[name](special("cpu")))
