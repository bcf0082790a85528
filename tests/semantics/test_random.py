"""Seeds, generators and their states."""

import copy
import io
import math
import pickle
import warnings

import pytest
import torch
import torch.distributions as D
import torch.nn.functional as F

from tests.compare import Failure, outcome
from tests.device import DEVICE, ON_TPU, compiles
from tests.ops.distribution import assert_alike, assert_independent, distance, largest_distance

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


def test_the_numbers_of_the_cpu_stay() -> None:
    """A call of unusual dtypes is also tried on the CPU before it is compiled, and must not draw from its generator."""
    torch.manual_seed(0)
    wanted = torch.rand(3)
    torch.manual_seed(0)
    for dtype in (torch.float16, torch.float64):
        x = torch.full((3, 29), 0.5, dtype=dtype, device="tpu")
        x.clone().normal_(), x.clone().random_(2, 9), x.bernoulli(), torch.nn.functional.dropout(x, 0.2)
    torch.randperm(29, out=torch.zeros(29, dtype=torch.int64, device="tpu"))
    with pytest.raises(RuntimeError):
        x.uniform_(3, 1)
    assert torch.equal(torch.rand(3), wanted)


def test_generator_of_another_device() -> None:
    with pytest.raises(RuntimeError, match="Expected a 'tpu' device type for generator but found 'cpu'"):
        torch.rand(2, device="tpu", generator=torch.Generator("cpu"))


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


# What is drawn


def numbers(*values: float) -> torch.Tensor:
    """On the default device, which is the one that the test is about."""
    return torch.tensor(values, dtype=torch.float32)


# Programs of several calls, most of them with a loop or a rejection inside. Parameters are those that others take
# another way for: small and large shapes, rates and counts.
DISTRIBUTIONS = {
    "Normal": lambda: D.Normal(numbers(2), numbers(3)),
    "Laplace": lambda: D.Laplace(numbers(1), numbers(2)),
    "Gumbel": lambda: D.Gumbel(numbers(1), numbers(2)),
    "Cauchy": lambda: D.Cauchy(numbers(0), numbers(2)),
    "Pareto": lambda: D.Pareto(numbers(1), numbers(3)),
    "Weibull": lambda: D.Weibull(numbers(1), numbers(0.7)),
    "Gamma, small": lambda: D.Gamma(numbers(0.2), numbers(1)),
    "Gamma, large": lambda: D.Gamma(numbers(7), numbers(2)),
    "Beta": lambda: D.Beta(numbers(0.5), numbers(0.8)),
    "Dirichlet": lambda: D.Dirichlet(numbers(0.3, 2, 5)),
    "StudentT": lambda: D.StudentT(numbers(3)),
    "VonMises": lambda: D.VonMises(numbers(1), numbers(2)),
    "Poisson, small": lambda: D.Poisson(numbers(0.4)),
    "Poisson, large": lambda: D.Poisson(numbers(40)),
    "Binomial, small": lambda: D.Binomial(5, numbers(0.3)),
    "Binomial, large": lambda: D.Binomial(200, numbers(0.4)),
    "NegativeBinomial": lambda: D.NegativeBinomial(numbers(4), numbers(0.3)),
    "Geometric": lambda: D.Geometric(numbers(0.1)),
    "Categorical": lambda: D.Categorical(numbers(0.1, 0.2, 0.7)),
    "Multinomial": lambda: D.Multinomial(10, numbers(0.1, 0.2, 0.7)),
    "ContinuousBernoulli": lambda: D.ContinuousBernoulli(numbers(0.2)),
    "RelaxedOneHotCategorical": lambda: D.RelaxedOneHotCategorical(numbers(0.7), numbers(0.1, 0.2, 0.7)),
    "MultivariateNormal": lambda: D.MultivariateNormal(numbers(1, 2), torch.stack([numbers(2, 1), numbers(1, 3)])),
    "LKJCholesky": lambda: D.LKJCholesky(2, numbers(1.5)),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(device, name) -> None:
    """Every number of a draw is distributed as the CPU's, and two draws have nothing to do with each other."""

    def sample(where: str) -> list[torch.Tensor]:
        with torch.device(where):
            drawn = DISTRIBUTIONS[name]().sample((5000,)).float().reshape(5000, -1)
        return [column.contiguous() for column in drawn.unbind(1) if column.var() > 0]

    ours, theirs = sample(device), sample("cpu")
    assert ours and all(column.device.type == device for column in ours)
    assert_alike(ours, theirs)
    assert_independent(ours, sample(device))


MANY = 200_000
# Draws of an op, and the moments of their distribution, up to the eighth: E x, E x^2, ...
MOMENTS = {
    "rand": (lambda d, t: torch.rand(MANY, device=d, dtype=t), [1 / (k + 1) for k in range(1, 9)]),
    "randn": (lambda d, t: torch.randn(MANY, device=d, dtype=t), [0, 1, 0, 3, 0, 15, 0, 105]),
    "exponential_": (
        lambda d, t: torch.empty(MANY, device=d, dtype=t).exponential_(),
        [math.factorial(k) for k in range(1, 9)],
    ),
    "bernoulli": (lambda d, t: torch.empty(MANY, device=d, dtype=t).bernoulli_(0.3), [0.3] * 8),
    "dropout": (lambda d, t: F.dropout(torch.ones(MANY, device=d, dtype=t), 0.75), [4 ** (k - 1) for k in range(1, 9)]),
    "randint": (lambda d, t: torch.randint(-2, 3, (MANY,), device=d).to(t), [0, 2, 0, 6.8, 0, 26, 0, 102.8]),
    "log_normal_": (
        lambda d, t: torch.empty(MANY, device=d, dtype=t).log_normal_(0, 0.1),
        [math.exp(0.005 * k * k) for k in range(1, 9)],
    ),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", MOMENTS)
def test_moments(device, name, dtype) -> None:
    """The first four are those of the distribution: location, spread, symmetry and tails."""
    draw, moments = MOMENTS[name]
    drawn = draw(device, dtype)
    assert drawn.dtype == dtype
    drawn = drawn.cpu().double()
    for k in range(1, 5):
        expected, square = moments[k - 1], moments[2 * k - 1]
        # Rounding to a dtype moves a number by at most half of its epsilon, and its power by k times that.
        rounding = k * torch.finfo(dtype).eps / 2 * math.sqrt(square)
        error = 6 * math.sqrt((square - expected**2) / MANY) + rounding
        assert abs((drawn**k).mean().item() - expected) <= error, f"moment {k}"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_tails(device, dtype) -> None:
    """Among a million normal numbers are some beyond 4.2, as on the CPU, and none is infinite."""
    drawn = torch.randn(1_000_000, device=device, dtype=dtype).cpu().double()
    for side in (drawn, -drawn):
        assert 4.2 < side.max() < 7
        # One in 31,574 lies beyond 4; of a million 32 do, and a count beyond these happens once in 10^8 times.
        assert 8 <= (side >= 4).sum() <= 70
    drawn = torch.empty(1_000_000, device=device, dtype=dtype).exponential_().cpu().double()
    assert 11 < drawn.max() < 30 and drawn.min() >= 0


def test_numbers_of_single_calls(device) -> None:
    """A block of the counter is as random as what is in it: calls of one number each, and one call of each seed."""
    generator = torch.Generator(device)
    of_calls = torch.cat([torch.rand(1, device=device, generator=generator) for _ in range(1000)]).cpu()
    of_seeds = torch.cat([torch.rand(1, device=device, generator=generator.manual_seed(s)) for s in range(1000)]).cpu()
    for drawn in (of_calls, of_seeds):
        assert distance(drawn, torch.linspace(0, 1, 1000)) < largest_distance(1000, 10**9)
        assert drawn.unique().numel() > 990
        for lag in (1, 2, 7):
            assert torch.corrcoef(torch.stack([drawn[:-lag], drawn[lag:]]))[0, 1].abs() < 0.2


def test_rows_are_independent(device) -> None:
    drawn = torch.randn(8, 4000, device=device).cpu()
    assert (torch.corrcoef(drawn) - torch.eye(8)).abs().max() < 0.1
    shuffles = torch.stack([torch.randperm(6, device=device) for _ in range(600)]).cpu().double()
    # Every number is anywhere with the same probability: 100 times, give or take 6 deviations of 9.1.
    for place in shuffles.T:
        assert all(45 < (place == number).sum() < 155 for number in range(6))


# Blocks of the counter: how many numbers a call draws, and of what kind, is of no account for those that come after it.
CALLS = {
    "rand": lambda d, n: torch.rand(n, device=d),
    "rand, double": lambda d, n: torch.rand(n, device=d, dtype=torch.float64),
    "randn": lambda d, n: torch.randn(n, device=d),
    "randn, bfloat16": lambda d, n: torch.randn(n, device=d, dtype=torch.bfloat16),
    "randint": lambda d, n: torch.randint(9, (n,), device=d),
    "randperm": lambda d, n: torch.randperm(n, device=d),
    "rand_like": lambda d, n: torch.rand_like(torch.ones(n, device=d)),
    "randn_like": lambda d, n: torch.randn_like(torch.ones(n, device=d)),
    "randint_like": lambda d, n: torch.randint_like(torch.ones(n, device=d), 9),
    "rand, out": lambda d, n: torch.rand(n, out=torch.empty(n, device=d)),
    "bernoulli": lambda d, n: torch.bernoulli(torch.full((n,), 0.5, device=d)),
    "normal": lambda d, n: torch.normal(torch.zeros(n, device=d), torch.ones(n, device=d)),
    "multinomial": lambda d, n: torch.multinomial(torch.ones(n, device=d), 1),
    "poisson": lambda d, n: torch.poisson(torch.ones(n, device=d)),
    "uniform_": lambda d, n: torch.empty(n, device=d).uniform_(),
    "normal_": lambda d, n: torch.empty(n, device=d).normal_(),
    "exponential_": lambda d, n: torch.empty(n, device=d).exponential_(),
    "geometric_": lambda d, n: torch.empty(n, device=d).geometric_(0.5),
    "log_normal_": lambda d, n: torch.empty(n, device=d).log_normal_(),
    "cauchy_": lambda d, n: torch.empty(n, device=d).cauchy_(),
    "random_": lambda d, n: torch.empty(n, device=d).random_(),
    "view": lambda d, n: torch.empty(2, n, device=d)[1].uniform_(),
    "dropout": lambda d, n: F.dropout(torch.ones(n, device=d)),
    "rrelu": lambda d, n: F.rrelu(-torch.ones(n, device=d), training=True),
    "gamma": lambda d, n: D.Gamma(torch.ones(n, device=d), 1.0).sample(),
    "dirichlet": lambda d, n: D.Dirichlet(torch.ones(n, device=d)).sample(),
    "attention": lambda d, n: F.scaled_dot_product_attention(*[torch.ones(1, 1, n, 4, device=d)] * 3, dropout_p=0.5),
}


@pytest.mark.skipif(not ON_TPU, reason="reads the state of the generator of tpu, a seed and an offset")
@pytest.mark.parametrize("name", CALLS)
def test_a_call_takes_one_block(device, name) -> None:
    generator, after = torch.tpu.get_rng_state, []
    for count in (2, 64):
        torch.manual_seed(5)
        before = generator()
        CALLS[name](device, count)
        seed, offset = generator().view(torch.int64).tolist()
        assert (seed, offset) == (5, before.view(torch.int64)[1].item() + 1)
        after.append(torch.rand(8, device=device).cpu())
    assert torch.equal(*after)


def test_a_refused_call_draws_nothing(device) -> None:
    """What raises at once leaves the generator as it was."""
    generator = torch.Generator(device).manual_seed(2)
    for wrong in (
        lambda: torch.empty(3, device=device).uniform_(2, 1, generator=generator),
        lambda: torch.empty(3, device=device).normal_(0, -1, generator=generator),
        lambda: torch.randint(5, 5, (3,), device=device, generator=generator),
        lambda: torch.multinomial(torch.ones(3, device=device), 4, generator=generator),
        lambda: torch.rand(-1, device=device, generator=generator),
    ):
        with pytest.raises(RuntimeError):
            wrong()
    same = torch.Generator(device).manual_seed(2)
    assert torch.equal(*(torch.rand(4, device=device, generator=each).cpu() for each in (generator, same)))


# Masks


def attention(x: torch.Tensor) -> torch.Tensor:
    layer = torch.nn.MultiheadAttention(8, 2, dropout=0.5, device=x.device, batch_first=True)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.fill_(0.1)
    return layer(x, x, x, need_weights=False)[0]


def recurrent(x: torch.Tensor) -> torch.Tensor:
    layer = torch.nn.GRU(8, 8, num_layers=2, dropout=0.5, device=x.device, batch_first=True)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.fill_(0.1)
    return layer(x)[0]


MASKS = {
    "dropout": lambda x: F.dropout(x, 0.5),
    "dropout in place": lambda x: F.dropout(x.clone(), 0.5, inplace=True),
    "dropout1d": lambda x: F.dropout1d(x.mT, 0.5).mT,
    "dropout2d": lambda x: F.dropout2d(x[..., None], 0.5),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.5, training=True),
    "feature_alpha_dropout": lambda x: F.feature_alpha_dropout(x, 0.5, training=True),
    "rrelu": lambda x: F.rrelu(-x, training=True),
    "scaled_dot_product_attention": lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.5),
    "MultiheadAttention": attention,
    "GRU": recurrent,
}


@pytest.mark.parametrize("name", MASKS)
def test_masks_differ_from_call_to_call(device, name) -> None:
    """Forward and backward share theirs, rows and calls do not, and a seed brings them back."""
    x = torch.linspace(0.5, 1.5, 128).reshape(2, 8, 8).to(device).requires_grad_()
    torch.manual_seed(1)
    first, second = MASKS[name](x), MASKS[name](x)
    assert not torch.equal(first.cpu(), second.cpu())
    rows = first.detach().cpu() / x.detach().cpu().reshape(first.shape)
    assert not torch.equal(rows[0], rows[1])
    torch.manual_seed(1)
    assert torch.equal(MASKS[name](x).cpu(), first.cpu())
    if name in ("dropout", "dropout in place", "dropout1d", "dropout2d"):  # the derivative of x * mask is the mask
        (mask,) = torch.autograd.grad(first.sum(), x)
        assert torch.equal((mask.cpu() * x.detach().cpu()).reshape(first.shape), first.detach().cpu())
        assert set(mask.unique().tolist()) == {0.0, 2.0}


def test_layers_have_masks_of_their_own(device) -> None:
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Dropout(0.5)).to(device)
    kept = torch.stack([(model(torch.ones(4096, device=device)) != 0).float().mean() for _ in range(4)])
    assert (kept - 0.25).abs().max() < 0.05  # half of a half: one mask for both would keep a half
    assert torch.equal(model.eval()(torch.ones(16, device=device)), torch.ones(16, device=device))


# Generators and their states


def test_generators_are_copied_and_pickled(device) -> None:
    """With their place: all copies go on as the original does, and none moves another."""
    generator = torch.Generator(device).manual_seed(11)
    torch.rand(3, device=device, generator=generator)
    file = io.BytesIO()
    torch.save(generator, file)
    file.seek(0)
    copies = [
        copy.deepcopy(generator),
        pickle.loads(pickle.dumps(generator)),
        generator.clone_state(),
        torch.load(file, weights_only=False),
        copy.deepcopy({"generator": generator})["generator"],
    ]
    wanted = torch.rand(4, device=device, generator=generator).cpu()
    for each in copies:
        assert each is not generator and each.device == generator.device and each.initial_seed() == 11
        assert torch.equal(torch.rand(4, device=device, generator=each).cpu(), wanted)


def test_states_are_copies(device) -> None:
    """They go through files and to other generators; a later draw does not change them."""
    generator = torch.Generator(device).manual_seed(2**63 + 5)
    state = generator.get_state()
    kept = state.clone()
    first = torch.rand(4, device=device, generator=generator).cpu()
    assert torch.equal(state, kept) and not torch.equal(generator.get_state(), kept)
    file = io.BytesIO()
    torch.save({"rng": state}, file)
    file.seek(0)
    other = torch.Generator(device)
    other.set_state(torch.load(file)["rng"])
    assert other.initial_seed() == 2**63 + 5
    assert torch.equal(torch.rand(4, device=device, generator=other).cpu(), first)
    for wrong in (torch.zeros(16), state[:8], torch.stack([state, state], 1)[:, 0], state.to("meta")):
        with pytest.raises((TypeError, RuntimeError), match="RNG state"):
            other.set_state(wrong)


def test_seeds(device) -> None:
    """What a generator takes for a seed, and what it says then, is what the CPU's does."""
    for seed in (0, 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, -1, -(2**63)):
        ours, theirs = torch.Generator(device).manual_seed(seed), torch.Generator().manual_seed(seed)
        assert ours.initial_seed() == theirs.initial_seed()
    for wrong in (2**64, -(2**63) - 1, 1.5, "1", None):
        with pytest.raises((RuntimeError, ValueError, TypeError, OverflowError)) as theirs:
            torch.Generator().manual_seed(wrong)
        with pytest.raises(theirs.type) as ours:
            torch.Generator(device).manual_seed(wrong)
        assert str(ours.value) == str(theirs.value)
    seeds = (0, 1, 2**32, 2**33, -1)
    generators = [torch.Generator(device).manual_seed(seed) for seed in seeds]
    drawn = {tuple(torch.rand(2, device=device, generator=generator).tolist()) for generator in generators}
    assert len(drawn) == len(seeds) or not ON_TPU  # all 64 bits count, of which the CPU's takes the lower half
    assert torch.Generator(device).seed() != torch.Generator(device).seed()


def test_global_states() -> None:
    torch.manual_seed(4)
    assert torch.tpu.initial_seed() == torch.initial_seed() == 4
    states = torch.tpu.get_rng_state(), torch.get_rng_state()
    wanted = torch.randn(4, device="tpu").cpu(), F.dropout(torch.ones(64, device="tpu")).cpu(), torch.rand(2)
    for device in ("tpu", torch.device("tpu"), torch.device("tpu", 0), 0):
        assert torch.equal(torch.tpu.get_rng_state(device), torch.tpu.get_rng_state())
        torch.tpu.set_rng_state(states[0], device)
        torch.set_rng_state(states[1])
        again = torch.randn(4, device="tpu").cpu(), F.dropout(torch.ones(64, device="tpu")).cpu(), torch.rand(2)
        assert all(torch.equal(left, right) for left, right in zip(again, wanted))
    # The CPU's generator is another one: drawing from either leaves the other alone.
    torch.tpu.set_rng_state(states[0])
    torch.rand(3)
    assert torch.equal(torch.randn(4, device="tpu").cpu(), wanted[0])


def test_fork_rng() -> None:
    def draw() -> list[float]:
        return torch.rand(2, device="tpu").tolist() + torch.rand(2).tolist()

    for options in ({"device_type": "tpu"}, {"device_type": "tpu", "devices": [0]}, {}):
        torch.manual_seed(1)
        with torch.random.fork_rng(**options):
            torch.manual_seed(2)
            inside = draw()
            with torch.random.fork_rng(**options):
                draw()
            rest = draw()
        after = draw()
        torch.manual_seed(1)
        assert draw() == after != inside
        torch.manual_seed(2)
        assert (draw(), draw()) == (inside, rest)
    torch.manual_seed(1)
    first = draw()
    torch.manual_seed(1)
    with pytest.raises(KeyError), torch.random.fork_rng(device_type="tpu"):
        draw()
        raise KeyError
    assert draw() == first
    torch.manual_seed(1)
    with torch.random.fork_rng(device_type="tpu", devices=[]):  # the CPU's alone
        draw()
    assert draw()[:2] != first[:2]
    with torch.random.fork_rng(device_type="tpu", enabled=False):
        torch.manual_seed(1)
        draw()
    assert draw() != first


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.int64], ids=str)
def test_the_device_never_moves_the_generator_of_the_cpu(dtype) -> None:
    """Not even where a call is new, and the CPU is asked what it thinks of it; shapes are in no other test."""

    def half(size: int) -> torch.Tensor:
        return torch.full((size,), 0.5, device="tpu").to(dtype)

    state = torch.get_rng_state()
    for generator, size in ((torch.Generator("tpu"), 211), (None, 223)):
        options = {"generator": generator}
        for draw in (
            lambda: half(size).random_(100, **options),
            lambda: half(size).bernoulli_(0.5, **options),
            lambda: half(size).bernoulli_(half(size).float(), **options),
            lambda: half(size).normal_(**options),
            lambda: torch.bernoulli(half(size), **options),
            lambda: torch.multinomial(half(size) + 1, 3, **options),
            lambda: torch.normal(half(size), half(size), **options),
            lambda: torch.randperm(size, out=half(size), **options),
            lambda: torch.rand(size, out=half(size), **options),
            lambda: F.dropout(half(size)),
        ):
            failure = outcome(draw)
            assert dtype == torch.int64 or not isinstance(failure, Failure), failure
            assert torch.equal(torch.get_rng_state(), state)


GENERATOR_TAKERS = {
    "init.normal_": lambda d, g: torch.nn.init.normal_(torch.empty(4, 4, device=d), generator=g),
    "init.trunc_normal_": lambda d, g: torch.nn.init.trunc_normal_(torch.empty(4, 4, device=d), generator=g),
    "init.kaiming_uniform_": lambda d, g: torch.nn.init.kaiming_uniform_(torch.empty(4, 4, device=d), generator=g),
    "init.xavier_normal_": lambda d, g: torch.nn.init.xavier_normal_(torch.empty(4, 4, device=d), generator=g),
    "init.orthogonal_": lambda d, g: torch.nn.init.orthogonal_(torch.empty(4, 4, device=d), generator=g),
    "normal, tensors": lambda d, g: torch.normal(torch.zeros(5, device=d), torch.ones(5, device=d), generator=g),
    "normal, numbers": lambda d, g: torch.normal(0.0, 1.0, (5,), device=d, generator=g),
    "poisson": lambda d, g: torch.poisson(torch.full((64,), 3.0, device=d), generator=g),
    "bernoulli_, tensor": lambda d, g: torch.empty(64, device=d).bernoulli_(torch.ones(64, device=d) / 2, generator=g),
    "random_": lambda d, g: torch.empty(5, device=d).random_(3, 1000, generator=g),
    "geometric_": lambda d, g: torch.empty(64, device=d).geometric_(0.2, generator=g),
    "log_normal_": lambda d, g: torch.empty(5, device=d).log_normal_(generator=g),
    "cauchy_": lambda d, g: torch.empty(5, device=d).cauchy_(generator=g),
    "rand, out": lambda d, g: torch.rand(5, generator=g, out=torch.empty(5, device=d)),
    "rand_like": lambda d, g: torch.rand_like(torch.empty(5, device=d), generator=g),
    "randint_like": lambda d, g: torch.randint_like(torch.empty(5, device=d), 0, 1000, generator=g),
    "rrelu": lambda d, g: torch.ops.aten.rrelu(-torch.ones(64, device=d), 0.1, 0.9, True, g),
    "multinomial, replaced": lambda d, g: torch.multinomial(torch.ones(50, device=d), 20, True, generator=g),
}


@pytest.mark.parametrize("name", GENERATOR_TAKERS)
def test_an_explicit_generator(device, name) -> None:
    """It decides, it moves on, and the default one stays where it is."""
    draw, generator = GENERATOR_TAKERS[name], torch.Generator(device).manual_seed(3)
    torch.manual_seed(0)
    first, second = draw(device, generator).cpu(), draw(device, generator).cpu()
    untouched = torch.rand(3, device=device).cpu()
    assert not torch.equal(first, second)
    assert torch.equal(draw(device, generator.manual_seed(3)).cpu(), first)
    torch.manual_seed(0)
    assert torch.equal(torch.rand(3, device=device).cpu(), untouched)


def test_samplers_with_a_generator_of_the_device(device) -> None:
    """What libraries do under a default device: shuffle and split there."""
    data = torch.utils.data.TensorDataset(torch.arange(12))
    with torch.device(device):
        orders = []
        for seed in (1, 2, 1):
            generator = torch.Generator(device).manual_seed(seed)
            parts = torch.utils.data.random_split(data, [8, 4], generator)
            loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True, generator=generator)
            orders.append([[index for part in parts for index in part.indices], [x.tolist() for (x,) in loader]])
    assert orders[0] == orders[2] != orders[1]
    assert sorted(orders[0][0]) == sorted(sum(orders[0][1], [])) == list(range(12))


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


@pytest.mark.parametrize(
    "draw",
    [
        lambda generator: torch.randperm(0, generator=generator),
        lambda generator: torch.randperm(3, generator=generator),
        lambda generator: torch.empty(3).normal_(generator=generator),
        lambda generator: torch.bernoulli(torch.ones(3), generator=generator),
    ],
)
def test_a_generator_of_the_device_for_the_cpu(draw) -> None:
    """Such a call is the CPU's: it draws nothing, or says what it expected."""
    try:
        assert draw(torch.Generator("tpu")).numel() == 0
    except RuntimeError as error:
        assert str(error) == "Expected a 'cpu' device type for generator but found 'tpu'"


def test_nothing_is_drawn_from_any_generator() -> None:
    """As torch has it: who draws no number needs no generator of the right device."""
    assert torch.randperm(0, device="tpu", generator=torch.Generator()).numel() == 0
    with pytest.raises(RuntimeError, match="Expected a 'tpu' device type for generator but found 'cpu'"):
        torch.randperm(2, device="tpu", generator=torch.Generator())
