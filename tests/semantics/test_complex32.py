"""complex32, which XLA does not have: its elements are words in memory, and pairs of float32 where programs compute."""

import copy

import pytest
import torch

from tests.compare import Failure, assert_same, assert_same_error, assert_same_outcome, outcome
from tests.device import DEVICE

C = torch.complex32


def halves(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, dtype=torch.complex64, generator=generator).to(C)


def both(body, *args: torch.Tensor, **tolerance: float) -> None:
    """`body` gives on the device what it gives on the CPU, which may be an error."""
    assert_same_outcome(
        lambda: body(*(arg.to(DEVICE) for arg in args)), lambda: body(*map(torch.clone, args)), **tolerance
    )


SPECIAL = torch.tensor([[1.5, -0.0], [float("nan"), 65504], [float("inf"), -float("inf")], [6e-8, -6e-5]]).half()


def test_every_value_survives(device) -> None:
    """All pairs of one half with others: through the host, through programs, through views of them."""
    numbers = torch.arange(-(2**15), 2**15).to(torch.int16).view(torch.float16)
    x = torch.view_as_complex(torch.stack([numbers, numbers.flip(0)], -1))
    ours = x.to(device)
    assert torch.equal(ours.cpu().view(torch.int32), x.view(torch.int32))
    finite = numbers.isfinite()
    for moved in (
        ours[::1].clone(),
        torch.cat([ours, ours])[: len(x)],
        ours.conj().resolve_conj().conj(),
        ours.to(torch.complex64).to(C),
    ):
        there, here = torch.view_as_real(moved.resolve_conj().cpu()), torch.view_as_real(x)
        assert torch.equal(there[finite & finite.flip(0)], here[finite & finite.flip(0)])
        assert_same(there, here)


VIEWS = {
    "parts": lambda z: torch.view_as_real(z),
    "real": lambda z: z.real,
    "imag": lambda z: z.imag,
    "conj": lambda z: z.conj(),
    "imag of conj": lambda z: z.conj().imag,
    "row": lambda z: z[1],
    "transposed": lambda z: z.t()[1:],
    "steps": lambda z: z[:, ::2],
    "window": lambda z: z.view(-1)[3:7],
    "diagonal": lambda z: z.diagonal(1),
    "words": lambda z: z.view(torch.int32),
    "shorts": lambda z: z.view(torch.int16),
    "bytes": lambda z: z.view(torch.uint8),
    "halves": lambda z: z.view(torch.float16),
    "floats": lambda z: z.view(torch.float32)[:, 1:],
    "pairs": lambda z: z.view(torch.complex64),
    "overlapping": lambda z: z.as_strided((2, 3), (1, 1), 2),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_are_read_and_written(view) -> None:
    def program(x: torch.Tensor) -> list:
        before = view(x).clone()
        overlaps = view is VIEWS["overlapping"]
        written = x if overlaps else view(x)
        number = 3 if not written.is_complex() else 3 + 1j
        written.copy_(torch.full(written.shape, number, device=x.device, dtype=written.dtype))
        after = x.clone()
        x.mul_(2) if not overlaps else x.neg_()
        return [before, after, x, view(x).clone()]

    both(program, halves(3, 4))


def test_views_of_others_as_complex32() -> None:
    both(lambda x: torch.view_as_complex(x).add_(1j), torch.ones(3, 2, dtype=torch.float16))
    for dtype in (torch.int32, torch.float32, torch.float16, torch.complex64, torch.uint8):
        both(lambda x: [x.view(C).clone(), x.view(C)[1:].neg_(), x], halves(8).view(dtype))


def test_writes_through_one_alias_show_in_the_others(device) -> None:
    def program(device: str) -> list:
        z = halves(2, 3).to(device)
        real, conj, row, words = z.real, z.conj(), z[1], z.view(torch.int32)
        real.mul_(2)
        conj[0].fill_(1 + 2j)
        row.imag.zero_()
        words[0, 0] = 0x3C00
        z[z.real > 0] = -1j
        z[:, torch.tensor([2, 0], device=device)] += 1
        return [z, real, conj, row, words, copy.deepcopy(z)]

    assert_same(program(device), program("cpu"))


FACTORIES = {
    "zeros": lambda d: torch.zeros(2, 3, dtype=C, device=d),
    "ones": lambda d: torch.ones(2, 3, dtype=C, device=d),
    "full": lambda d: torch.full((2,), 1 + 70000j, dtype=C, device=d),
    "tensor": lambda d: torch.tensor([1j, 2], dtype=C, device=d),
    "like": lambda d: [f(halves(2, 3).to(d)) for f in (torch.zeros_like, torch.ones_like)],
    "new": lambda d: halves(1).to(d).new_full((2,), 3j),
    "fill": lambda d: torch.empty(3, dtype=C, device=d).fill_(0.1 - 2j),
    "complex": lambda d: torch.complex(
        torch.ones(2, 1, dtype=torch.half, device=d), torch.arange(3.0, device=d).half()
    ),
    "eye": lambda d: torch.eye(3, dtype=C, device=d),
    "arange": lambda d: torch.arange(3, dtype=C, device=d),
    "linspace": lambda d: torch.linspace(0, 1, 3, dtype=C, device=d),
    "resized": lambda d: torch.ones(2, dtype=C, device=d).resize_(1),
}


@pytest.mark.parametrize("make", FACTORIES.values(), ids=FACTORIES)
def test_factories(device, make) -> None:
    assert_same_outcome(lambda: make(device), lambda: make("cpu"))


COMPUTES = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: torch.sub(x, y, alpha=2),
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "neg": lambda x, y: -x,
    "abs": lambda x, y: x.abs(),
    "angle": lambda x, y: x.angle(),
    "numbers": lambda x, y: [
        x + 1.5,
        2 - x,
        x * 1j,
        x + torch.tensor(2j, dtype=C),
        x * torch.tensor(2.0, dtype=torch.float64),
    ],
    "in place": lambda x, y: x.mul_(y).add_(1j),
    "out": lambda x, y: [torch.add(x, y, out=torch.empty(0, dtype=t, device=x.device)) for t in (C, torch.complex64)],
    "out of another kind": lambda x, y: torch.add(x, y, out=torch.empty(0, device=x.device)),
    "promoted": lambda x, y: [
        x * y.real,
        x + y.real.float(),
        x * y.to(torch.complex64),
        x.real + 1j,
        x + y.real.long(),
    ],
    "sum": lambda x, y: x.sum(),
    "mean": lambda x, y: x.mean(0),
    "prod": lambda x, y: x.prod(),
    "matmul": lambda x, y: x @ y.t(),
    "equal": lambda x, y: x == x,
    "isfinite": lambda x, y: [x.isfinite(), x.isnan(), x.isinf()],
    "exp": lambda x, y: x.exp(),
    "sqrt": lambda x, y: x.sqrt(),
    "power": lambda x, y: x**2,
    "conj": lambda x, y: x.conj() * y,
    "real and imag": lambda x, y: x.real * y.imag,
    "where": lambda x, y: torch.where(x.real > 0, x, y),
    "index": lambda x, y: [
        x[torch.tensor([1, 0], device=x.device)],
        x[x.real > 0],
        x.flip(0),
        x.roll(1),
        torch.cat([x, y]),
    ],
    "foreach": lambda x, y: torch._foreach_add([x, y], 1),
    "nonzero": lambda x, y: x.nonzero(),
    "bool": lambda x, y: [x.bool(), (x.imag * 1j).bool(), x.any()],
    "sort": lambda x, y: x.sort(),
    "bernoulli": lambda x, y: x.bernoulli_(),
    "asked for": lambda x, y: x.real.float().sum(dtype=C),
    "result type": lambda x, y: [
        torch.empty(0, dtype=torch.result_type(x, other)) for other in (y, 1j, y.real, y.real.double())
    ],
    "gradient": lambda x, y: torch.autograd.grad((x.requires_grad_() * y).real.float().sum(), x),
}


@pytest.mark.parametrize("name", COMPUTES)
def test_what_the_cpu_computes_and_refuses(name) -> None:
    """The same to the precision of halves, or the same error."""
    both(COMPUTES[name], halves(2, 3), halves(2, 3, seed=1), rtol=2e-3, atol=2e-3)
    both(COMPUTES[name], halves(3, 2).t(), halves(2, 6, seed=1)[:, ::2], strides=False, rtol=2e-3, atol=2e-3)


def test_some_of_it_is_computed_and_some_refused() -> None:
    outcomes = {name: outcome(lambda: body(halves(2, 3), halves(2, 3))) for name, body in COMPUTES.items()}
    refused = {name for name, value in outcomes.items() if isinstance(value, Failure)}
    assert {"div", "sum", "matmul", "exp"} <= refused and {"add", "mul", "abs", "where", "gradient"}.isdisjoint(refused)


def test_special_values() -> None:
    z = torch.view_as_complex(SPECIAL)
    both(
        lambda z: [z + 0, -z, z.conj() + 0, z.to(torch.complex64), z.isnan(), z.to(torch.complex64).to(C), z.real * 2],
        z,
    )
    both(lambda z: z.to(C), torch.tensor([70000.0, 65519, 65520, 1e-9, 2049]) * (1 + 1j))


def test_random(device) -> None:
    """Both parts are drawn as halves: uniform ones never reach the end, normal ones have half the variance each."""
    torch.manual_seed(0)
    drawn = torch.view_as_real(torch.rand(1 << 16, dtype=C, device=device)).cpu()
    assert drawn.dtype == torch.float16 and 0 <= drawn.min() and drawn.max() < 1
    assert (drawn.float().mean(0) - 0.5).abs().max() < 0.01
    parts = torch.view_as_real(torch.randn(1 << 14, dtype=C, device=device)).cpu().float()
    assert parts.mean(0).abs().max() < 0.03 and (parts.var(0) - 0.5).abs().max() < 0.02
    assert torch.corrcoef(parts.t())[0, 1].abs() < 0.03
    moved = torch.view_as_real(torch.empty(1 << 14, dtype=C, device=device).uniform_(-2, 3)).cpu().float()
    assert -2 <= moved.min() and moved.max() < 3 and (moved.mean(0) - 0.5).abs().max() < 0.05
    assert_same_error(device, lambda d: torch.empty(2, dtype=C, device=d).uniform_(0, 1e5))
    assert_same_error(device, lambda d: torch.empty(2, dtype=C, device=d).random_())


def test_memory_is_the_words_alone() -> None:
    before = torch.tpu.memory_allocated()
    x = torch.zeros(1 << 16, dtype=C, device="tpu")
    assert torch.tpu.memory_allocated() - before == x.nbytes == x.untyped_storage().nbytes() == 4 << 16
