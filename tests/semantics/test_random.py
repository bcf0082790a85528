"""Seeds, generators and their states."""

import copy
import pickle
import warnings

import pytest
import torch

from tests.device import DEVICE, ON_TPU, compiles

DRAWS = {
    "rand": lambda d, g: torch.rand(5, device=d, generator=g),
    "randn": lambda d, g: torch.randn(5, device=d, generator=g),
    "randint": lambda d, g: torch.randint(0, 1000, (5,), device=d, generator=g),
    "randperm": lambda d, g: torch.randperm(50, device=d, generator=g),
    "uniform_": lambda d, g: torch.empty(5, device=d).uniform_(-1, 1, generator=g),
    "normal_": lambda d, g: torch.empty(5, device=d).normal_(1, 2, generator=g),
    "bernoulli": lambda d, g: torch.bernoulli(torch.full((64,), 0.5, device=d), generator=g),
    "bernoulli_": lambda d, g: torch.empty(64, device=d).bernoulli_(0.5, generator=g),
    "exponential_": lambda d, g: torch.empty(5, device=d).exponential_(generator=g),
    "multinomial": lambda d, g: torch.multinomial(torch.ones(50, device=d), 20, generator=g),
}


@pytest.mark.parametrize("name", DRAWS)
def test_generator(name) -> None:
    """Its seed decides, its state moves on, and no new seed compiles anything."""
    draw = DRAWS[name]
    generator = torch.Generator(DEVICE).manual_seed(3)
    first, second = draw(DEVICE, generator).cpu(), draw(DEVICE, generator).cpu()
    assert not torch.equal(first, second)
    with compiles(at_most=0):
        again = draw(DEVICE, generator.manual_seed(3)).cpu()
        other = draw(DEVICE, generator.manual_seed(4)).cpu()
    assert torch.equal(first, again) and not torch.equal(first, other)


def test_global_seed_and_a_generator_are_apart(device) -> None:
    torch.manual_seed(0)
    alone = torch.rand(3, device=device).cpu()
    torch.manual_seed(0)
    torch.rand(3, device=device, generator=torch.Generator(device).manual_seed(9))
    assert torch.equal(torch.rand(3, device=device).cpu(), alone)


def test_state(device) -> None:
    generator = torch.Generator(device).manual_seed(1)
    torch.rand(2, device=device, generator=generator)
    state = generator.get_state()
    assert state.dtype == torch.uint8 and state.device.type == "cpu"
    wanted = torch.rand(2, device=device, generator=generator).cpu()
    for same in (
        torch.Generator(device).set_state(state),
        copy.copy(torch.Generator(device)).set_state(pickle.loads(pickle.dumps(state))),
    ):
        assert torch.equal(torch.rand(2, device=device, generator=same).cpu(), wanted)
    assert generator.initial_seed() == 1 and generator.device.type == device
    assert generator.seed() == generator.initial_seed()
    with pytest.raises(RuntimeError, match="size"):
        generator.set_state(torch.zeros(3, dtype=torch.uint8))


def test_dropout(device) -> None:
    x = torch.ones(10_000, device=device, requires_grad=True)
    torch.manual_seed(0)
    first = torch.nn.functional.dropout(x, 0.3)
    second = torch.nn.functional.dropout(x, 0.3)
    kept = (first != 0).float().mean().item()
    assert abs(kept - 0.7) < 0.03 and not torch.equal(first.cpu(), second.cpu())
    assert set(first.tolist()) == {0.0, torch.tensor(1 / 0.7).item()}
    first.sum().backward()
    assert torch.equal(x.grad, first.detach())
    torch.manual_seed(0)
    assert torch.equal(torch.nn.functional.dropout(x, 0.3), first)
    assert torch.equal(torch.nn.functional.dropout(x, 0.3, training=False), x)
    assert torch.nn.functional.dropout(x, 1.0).sum().item() == 0


def test_ranges(device) -> None:
    """The ends of the intervals that PyTorch promises: [0, 1) and [low, high)."""
    x = torch.rand(100_000, device=device)
    assert 0 <= x.min().item() and x.max().item() < 1
    x = torch.rand(100_000, device=device, dtype=torch.bfloat16)
    assert x.max().item() < 1
    x = torch.randint(-3, 4, (1000,), device=device)
    assert (x.min().item(), x.max().item(), x.dtype) == (-3, 3, torch.int64)
    assert sorted(torch.randperm(20, device=device).tolist()) == list(range(20))
    assert torch.isfinite(torch.randn(100_000, device=device)).all()


@pytest.mark.skipif(not ON_TPU, reason="needs two devices")
def test_the_numbers_of_the_cpu_stay(device) -> None:
    """A call of unusual dtypes is also tried on the CPU before it is compiled, and must not draw from its generator."""
    torch.manual_seed(0)
    wanted = torch.rand(3)
    torch.manual_seed(0)
    for dtype in (torch.float16, torch.float64):
        x = torch.full((3, 29), 0.5, dtype=dtype, device=device)
        x.clone().normal_(), x.clone().random_(2, 9), x.bernoulli(), torch.nn.functional.dropout(x, 0.2)
    torch.randperm(29, out=torch.zeros(29, dtype=torch.int64, device=device))
    with pytest.raises(RuntimeError):
        x.uniform_(3, 1)
    assert torch.equal(torch.rand(3), wanted)


@pytest.mark.skipif(not ON_TPU, reason="needs two devices")
def test_generator_of_another_device() -> None:
    with pytest.raises(RuntimeError, match="Expected a 'tpu' device type for generator but found 'cpu'"):
        torch.rand(2, device=DEVICE, generator=torch.Generator("cpu"))


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_uniform_draws_both_parts_of_a_complex_number(device, dtype) -> None:
    drawn = torch.empty(2000, dtype=dtype, device=device).uniform_(2, 3).cpu()
    parts = torch.view_as_real(drawn)
    assert drawn.dtype == dtype and parts.min() >= 2 and parts.max() < 3
    assert torch.allclose(parts.mean(0), torch.tensor(2.5, dtype=parts.dtype), atol=0.05)
    assert torch.corrcoef(parts.T)[0, 1].abs() < 0.1
    assert torch.rand((), dtype=dtype, device=device).shape == ()


def test_random_reaches_the_upper_half_of_uint32(device) -> None:
    drawn = torch.empty(1000, dtype=torch.uint32, device=device).random_(2**32 - 1).cpu().to(torch.int64)
    assert drawn.min() >= 0 and 2**31 < drawn.max() < 2**32 - 1


FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_random_of_floats_between_large_bounds(device, dtype) -> None:
    """Nothing drawn rounds to what is outside, and both ends are reached."""
    digits = {torch.float16: 11, torch.bfloat16: 8, torch.float32: 24, torch.float64: 53}[dtype]
    largest = min(int(torch.finfo(dtype).max), 2**62)
    step = 2 ** (largest.bit_length() - digits)
    narrow = largest - 20 * step
    for low, high in ((-largest, largest), (narrow, largest), (-largest, -narrow), (0, largest)):
        with pytest.warns(UserWarning, match="is out of bounds"):
            drawn = torch.empty(4000, dtype=dtype, device=device).random_(low, high).cpu().double()
        margin = max((high - low) / 100, step)
        assert low <= drawn.min() <= low + 2 * margin and high - 2 * margin <= drawn.max() < high, (low, high)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_random_warns_of_bounds_as_the_cpu_does(device, dtype) -> None:
    digits = {torch.float16: 11, torch.bfloat16: 8, torch.float32: 24, torch.float64: 53}[dtype]
    beyond = 2**digits + 2 ** (digits // 2)

    def warned(device: str) -> list[list[str]]:
        messages = []
        for bounds in ((0, 2**digits), (beyond,), (-beyond, 3), (-beyond, beyond), (-beyond, None), (-3, None)):
            for _ in range(2):  # a program that is compiled, and one that is there
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    torch.zeros(3, dtype=dtype, device=device).random_(*bounds)
                messages.append([str(warning.message).split("(Triggered")[0] for warning in caught])
        return messages

    assert warned(device) == warned("cpu")
