"""torch.func above the device: the transforms, one inside another, over modules and over random numbers."""

import copy
import functools

import pytest
import torch
import torch.nn.functional as F
from torch.func import (
    functional_call,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
    vmap,
)

from tests.compare import Failure, assert_same, assert_same_error, outcome


def matrix(device: str) -> torch.Tensor:
    return torch.linspace(-1, 1, 6).reshape(2, 3).to(device)


def square(device: str) -> torch.Tensor:
    return (torch.eye(3) + torch.linspace(-0.3, 0.4, 9).reshape(3, 3)).to(device)


def curved(x: torch.Tensor) -> torch.Tensor:
    """From three numbers to three, with every second derivative."""
    return x.roll(1).sin() * x.exp() + x.prod()


def loss(x: torch.Tensor) -> torch.Tensor:
    return curved(x).square().sum()


def in_place(row: torch.Tensor) -> torch.Tensor:
    made = row.clone()
    made[0] = made[1] * 2
    made[1:].mul_(row[0])
    return made.add_(1)


def cumulative(row: torch.Tensor) -> torch.Tensor:
    values, indices = row.flip(0).sort()
    return torch.where(indices > 0, values.cumsum(0), row)


@functools.cache
def weights() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(shape, generator=generator) for shape in ((4, 3), (4,), (2, 4), (2,))]


def network(device: str) -> torch.nn.Module:
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)).to(device)
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), weights()):
            parameter.copy_(value)
    return model


def error_of(model: torch.nn.Module, parameters: dict, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.mse_loss(functional_call(model, parameters, (x,)), y)


TRANSFORMS = {
    "vmap": lambda d: vmap(torch.dot)(matrix(d), matrix(d)),
    "vmap, dims": lambda d: vmap(torch.matmul, in_dims=(1, None), out_dims=1)(matrix(d), matrix(d)),
    "vmap, negative dims": lambda d: vmap(curved, in_dims=-2, out_dims=-1)(matrix(d)),
    "vmap, structures": lambda d: vmap(lambda t: {"sum": t["x"].sum(), "pair": (t["x"], t["y"])})(
        {"x": matrix(d), "y": matrix(d).exp()}
    ),
    "vmap, chunks": lambda d: vmap(loss, chunk_size=1)(matrix(d)),
    "vmap, nested": lambda d: vmap(vmap(torch.mul, (None, 0)), (0, None))(matrix(d), matrix(d)),
    "vmap, in place": lambda d: vmap(in_place)(matrix(d)),
    "vmap, sort and scan": lambda d: vmap(cumulative)(matrix(d)),
    "vmap, indices": lambda d: vmap(lambda row, i: row[i] + row.gather(0, i.view(1)))(
        matrix(d), torch.tensor([2, 0], device=d)
    ),
    "vmap, linear algebra": lambda d: vmap(torch.linalg.solve, (None, 0))(square(d), matrix(d)),
    "vmap, convolution": lambda d: vmap(lambda x, w: F.conv1d(x, w, padding=1), (0, None))(
        matrix(d).view(2, 1, 1, 3), matrix(d).view(1, 1, 6)[..., :3]
    ),
    "vmap, half precision": lambda d: vmap(lambda row: F.softmax(row.bfloat16(), 0))(matrix(d)),
    "grad": lambda d: grad(loss)(square(d)[0]),
    "grad, arguments": lambda d: grad(lambda x, y: (x @ y).sum(), argnums=(0, 1))(matrix(d), square(d)),
    "grad, auxiliary": lambda d: grad_and_value(lambda x: (loss(x), x.exp()), has_aux=True)(square(d)[0]),
    "grad, third": lambda d: grad(grad(grad(lambda x: x.sin() * x.exp())))(square(d)[0, 0]),
    "grad of each": lambda d: vmap(grad(loss))(square(d)),
    "vjp": lambda d: (lambda out, pull: [out, *pull(torch.ones_like(out))])(*vjp(curved, square(d)[0])),
    "jvp": lambda d: jvp(curved, (square(d)[0],), (square(d)[1],)),
    "jvp of grad": lambda d: jvp(grad(loss), (square(d)[0],), (square(d)[1],)),
    "linearize": lambda d: (lambda out, push: [out, push(square(d)[1])])(*linearize(curved, square(d)[0])),
    "jacrev": lambda d: jacrev(curved)(square(d)[0]),
    "jacrev, chunks": lambda d: jacrev(curved, chunk_size=2)(square(d)[0]),
    "jacfwd": lambda d: jacfwd(curved)(square(d)[0]),
    "jacfwd, arguments": lambda d: jacfwd(torch.matmul, argnums=(0, 1))(matrix(d), square(d)),
    "hessian": lambda d: hessian(loss)(square(d)[0]),
    "hessian of each": lambda d: vmap(hessian(loss))(square(d)),
    "hessian, reverse twice": lambda d: jacrev(jacrev(loss))(square(d)[0]),
    "jacobian of an inverse": lambda d: jacrev(torch.linalg.inv)(square(d)),
    "functionalize": lambda d: functionalize(in_place)(square(d)[0]),
    "functionalize of grad": lambda d: functionalize(grad(lambda x: in_place(x).square().sum()))(square(d)[0]),
    "torch.autograd.functional": lambda d: torch.autograd.functional.hvp(loss, square(d)[0], square(d)[1]),
    "vectorized jacobian": lambda d: torch.autograd.functional.jacobian(
        curved, square(d)[0], vectorize=True, strategy="forward-mode"
    ),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transform(device, name) -> None:
    assert_same(TRANSFORMS[name](device), TRANSFORMS[name]("cpu"))


def test_errors_of_transforms(device) -> None:
    for wrong in (
        lambda d: vmap(torch.mul)(matrix(d), square(d)),
        lambda d: vmap(lambda row: row.sum().item())(matrix(d)),
        lambda d: vmap(lambda row: row if row.sum() > 0 else -row)(matrix(d)),
        lambda d: vmap(lambda row: torch.zeros(3, device=d).add_(row))(matrix(d)),
        lambda d: grad(curved)(square(d)[0]),
    ):
        assert_same_error(device, wrong)


def test_a_transform_that_raises_leaves_nothing_behind(device) -> None:
    with pytest.raises(ZeroDivisionError):
        vmap(grad(lambda row: row.sum() / 0 if 1 // 0 else row))(matrix(device))
    assert_same(matrix(device).exp(), matrix("cpu").exp())


def test_functional_call(device) -> None:
    def run(device: str) -> list[torch.Tensor]:
        model, x = network(device), matrix(device)
        mine = {name: value.detach() * 2 for name, value in model.named_parameters()}
        return [functional_call(model, mine, (x,)), functional_call(model, {"2.bias": mine["2.bias"]}, (x,)), model(x)]

    assert_same(run(device), run("cpu"))


def test_functional_call_of_tied_weights(device) -> None:
    def run(device: str) -> list[torch.Tensor]:
        model = torch.nn.Sequential(*(torch.nn.Linear(3, 3, bias=False, device=device) for _ in range(2)))
        model[1].weight = model[0].weight
        both = {"0.weight": square(device), "1.weight": square(device) * 2}
        return [
            functional_call(model, {"0.weight": square(device)}, (matrix(device),)),
            functional_call(model, both, (matrix(device),), tie_weights=False),
        ]

    assert_same(run(device), run("cpu"))


def test_functional_call_returns_buffers(device) -> None:
    """Batch norm writes its statistics into what it is given, not into the module."""

    def run(device: str) -> list[torch.Tensor]:
        model = torch.nn.BatchNorm1d(3, device=device)
        state = {name: value.clone() for name, value in model.state_dict().items()}
        out = functional_call(model, state, (matrix(device),))
        return [out, *state.values(), model.running_mean, model.num_batches_tracked]

    assert_same(run(device), run("cpu"))


def test_gradients_of_each_sample(device) -> None:
    def run(device: str) -> dict[str, torch.Tensor]:
        model, x, y = network(device), square(device), square(device)[:, :2]
        parameters = {name: value.detach() for name, value in model.named_parameters()}
        return vmap(grad(functools.partial(error_of, model)), in_dims=(None, 0, 0))(parameters, x, y)

    assert_same(run(device), run("cpu"))


def test_ensemble(device) -> None:
    """Models that are trained in one call: a stack of their parameters, vmapped."""

    def run(device: str) -> list:
        models = [network(device) for _ in range(3)]
        with torch.no_grad():
            for index, model in enumerate(models):
                model[0].weight.mul_(index + 1)
        parameters, buffers = stack_module_state(models)
        base = copy.deepcopy(models[0]).to("meta")
        x, y = matrix(device), matrix(device)[:, :2]

        def step(parameters: dict, x: torch.Tensor) -> tuple[dict, torch.Tensor]:
            gradients, value = grad_and_value(functools.partial(error_of, base))(parameters, x, y)
            return {name: parameters[name] - 0.1 * gradients[name] for name in parameters}, value

        losses = []
        for _ in range(2):
            parameters, value = vmap(step, in_dims=(0, None))(parameters, x)
            losses.append(value)
        return [losses, parameters, buffers]

    assert_same(run(device), run("cpu"))


def test_stacked_state_is_a_leaf(device) -> None:
    def run(device: str) -> dict[str, torch.Tensor]:
        models = [network(device) for _ in range(2)]
        parameters, _ = stack_module_state(models)
        vmap(functools.partial(functional_call, models[0]), (0, None))(parameters, (matrix(device),)).sum().backward()
        return {name: value.grad for name, value in parameters.items()}

    assert_same(run(device), run("cpu"))


# Every way to draw: from nothing, like the batched argument, with batched probabilities, in place.
RANDOM = {
    "rand": lambda x: torch.rand(64, device=x.device),
    "randn": lambda x: torch.randn(64, device=x.device),
    "randint": lambda x: torch.randint(0, 1000, (64,), device=x.device),
    "randperm": lambda x: torch.randperm(64, device=x.device),
    "rand_like": torch.rand_like,
    "randn_like": torch.randn_like,
    "dropout": lambda x: F.dropout(x, 0.5),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.5, training=True),
    "bernoulli": lambda x: torch.bernoulli(x / 2),
    "bernoulli_": lambda x: x.clone().bernoulli_(0.5),
    "normal": lambda x: torch.normal(x, 1.0),
    "normal_": lambda x: x.clone().normal_(),
    "uniform_": lambda x: x.clone().uniform_(),
    "exponential_": lambda x: x.clone().exponential_(),
    "random_": lambda x: x.clone().random_(1000),
    "multinomial": lambda x: torch.multinomial(x, 32),
    "gumbel_softmax": lambda x: F.gumbel_softmax(x, dim=-1),
    "trunc_normal_": lambda x: torch.nn.init.trunc_normal_(torch.empty(64, device=x.device)),
}


@pytest.mark.parametrize("name", RANDOM)
def test_randomness(device, name) -> None:
    """No mode: what the CPU says. "same": one draw for all samples. "different": each its own. A seed repeats both."""
    draw = RANDOM[name]
    assert_same_error(device, lambda d: vmap(draw)(torch.ones(3, 64, device=d)))
    x = torch.ones(3, 64, device=device)
    for mode in ("same", "different"):
        metadata = outcome(lambda: vmap(draw, randomness=mode)(torch.ones(3, 64)))
        if isinstance(metadata, Failure):  # not every way has both
            assert outcome(lambda: vmap(draw, randomness=mode)(x)) == metadata
            continue
        rows = vmap(draw, randomness=mode)(x)
        assert (rows.shape, rows.dtype) == (metadata.shape, metadata.dtype)
        for i, j in ((0, 1), (1, 2), (0, 2)):
            assert torch.equal(rows[i].cpu(), rows[j].cpu()) == (mode == "same"), f"{mode}: rows {i} and {j}"
        again = vmap(draw, randomness=mode)(x)
        assert not torch.equal(rows.cpu(), again.cpu()), f"{mode}: two calls drew the same numbers"
        torch.manual_seed(7)
        first = vmap(draw, randomness=mode)(x).cpu()
        torch.manual_seed(7)
        assert torch.equal(vmap(draw, randomness=mode)(x).cpu(), first)


def test_dropout_of_each_sample(device) -> None:
    """Its mask is in forward and backward the same one, whichever transform the gradient comes from."""
    x = torch.full((3, 64), 2.0, device=device)
    for mode in ("same", "different"):
        gradients, values = vmap(grad_and_value(lambda row: (F.dropout(row, 0.5) * row).sum()), randomness=mode)(x)
        kept = (gradients != 0).sum(1)
        # Each kept number is 2 * 2 * 2, and its derivative 2 * 2 * 2 as well.
        assert_same(values, 8.0 * kept.cpu().float())
        assert (kept.unique().numel() == 1 or mode == "different") and 0 < kept.min() <= kept.max() < 64
