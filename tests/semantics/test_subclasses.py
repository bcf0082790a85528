"""What Python puts above or around the device's tensors: modes, fake tensors, subclasses, swaps, parametrizations."""

import copy
import pickle

import pytest
import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.nn.utils import parametrizations, parametrize, prune
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils.flop_counter import FlopCounterMode

from tests.compare import assert_same, assert_same_error, outcome
from tests.device import compiles, programs
from tests.semantics.networks import sequential


def matrix(device: str) -> torch.Tensor:
    return torch.linspace(-1, 1, 6).reshape(2, 3).to(device)


def network(device: str) -> torch.nn.Module:
    return sequential(device, torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))


# Modes


class Calls(TorchDispatchMode):
    """Notes every op below autograd."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        self.names.append(str(op))
        return op(*args, **(kwargs or {}))


class Functions(TorchFunctionMode):
    """Notes every function that Python calls."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.names.append(resolve_name(function) or str(function))
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("mode", [Calls, Functions])
def test_modes_see_what_they_see_on_the_cpu(device, mode) -> None:
    def run(device: str) -> tuple[list, list[str]]:
        torch.manual_seed(0)
        start = matrix(device)
        with mode() as seen:
            x = start.clone().requires_grad_()
            y = F.gelu(F.layer_norm(F.linear(x, x, x[:, 0]), (2,))) * 2 + torch.zeros(2, device=device)
            y.add_(1)[0].mul_(2)
            torch.cat([y, y], 1).var(0).sum().backward()
            torch.optim.SGD([x], lr=0.1, foreach=False).step()
        return [x, x.grad, y], seen.names

    (ours, our_names), (theirs, their_names) = run(device), run("cpu")
    assert_same(ours, theirs)
    assert our_names == their_names


def test_a_mode_changes_results(device) -> None:
    class Doubles(TorchDispatchMode):
        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            out = op(*args, **(kwargs or {}))
            return out * 2 if op is torch.ops.aten.exp.default else out

    def run(device: str) -> list[torch.Tensor]:
        with Doubles(), Calls() as seen:  # one within the other
            x = matrix(device).exp()
        assert seen.names.count("aten.exp.default") == 1
        return [x, matrix(device).exp()]

    assert_same(run(device), run("cpu"))


def test_misses_are_not_seen_by_modes(device) -> None:
    """What the device does to compile a new program is none of the caller's calls."""
    x, y = torch.ones(2, 31, device=device), torch.ones(2, 31, device=device)
    for mode in (Calls(), Functions()):
        with mode:
            before = programs()
            cold = torch.hypot(x, y) if isinstance(mode, Calls) else torch.logaddexp(x, y)
            count = len(mode.names)
        with mode:
            torch.hypot(x, y) if isinstance(mode, Calls) else torch.logaddexp(x, y)
        assert count == 1 and len(mode.names) == 2
        assert cold.device == x.device and (device == "cpu" or programs() > before)


def test_flops(device) -> None:
    def run(device: str) -> tuple:
        image = torch.ones(1, 2, 8, 8, device=device)
        convolution = torch.nn.Conv2d(2, 4, 3).to(device)
        model, q = network(device), torch.ones(1, 2, 4, 8, device=device, requires_grad=True)
        with FlopCounterMode(display=False) as counter:
            model(matrix(device)).sum().backward()
            convolution(image).sum().backward()
            F.scaled_dot_product_attention(q, q, q).sum().backward()
            torch.baddbmm(torch.zeros(1, 2, 2, device=device), q[0, :1, :2], q[0, :1, :2].mT)
        return counter.get_total_flops(), {k: dict(v) for k, v in counter.get_flop_counts().items()}

    (total, counts), (expected, their_counts) = run(device), run("cpu")
    assert total == expected > 0, f"{counts} instead of {their_counts}"


def test_function_mode_moves_to_the_device(device) -> None:
    """As a user would write it: whatever is made is made there, save where somebody says otherwise."""

    class Moves(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if function in (torch.ones, torch.arange, torch.zeros) and "device" not in kwargs:
                kwargs["device"] = device
            return function(*args, **kwargs)

    with torch.device("meta"), Moves():
        made = [torch.ones(2), torch.arange(3), torch.zeros(2, device="cpu")]
    assert [x.device.type for x in made] == [device, device, "cpu"]


def test_device_contexts_nest(device) -> None:
    with torch.device(device):
        with torch.device("meta"):
            assert torch.ones(1).device.type == "meta"
        inside = torch.ones(1), torch.tensor([1]), torch.from_numpy(torch.ones(1, device="cpu").numpy())
        model = torch.nn.BatchNorm1d(3)
    assert [x.device.type for x in inside] == [device, device, "cpu"]
    assert {x.device.type for x in model.state_dict().values()} == {device}
    assert torch.ones(1).device.type == "cpu"


# Fake tensors


def fake_facts(x: torch.Tensor) -> tuple:
    return tuple(x.shape), x.stride(), x.dtype, x.requires_grad


FAKED = {
    "arithmetic": lambda x, model: x.exp() * 2 + x[0],
    "matmul": lambda x, model: x @ x.t(),
    "views": lambda x, model: x.t()[1:].expand(2, 2, 2).reshape(-1),
    "write": lambda x, model: x.clone().t().mul_(2),
    "indexing": lambda x, model: x[:, [0, 2]].gather(1, x.argsort(1)[:, :1]),
    "factories": lambda x, model: torch.rand_like(x) + x.new_ones(3) + torch.zeros(3, device=x.device),
    "zero-dim": lambda x, model: x * torch.tensor(2.0, dtype=torch.float64),
    "reductions": lambda x, model: x.var(1, keepdim=True) + x.logsumexp(0),
    "convolution": lambda x, model: F.conv1d(x[None], x[:, :, None].mT.expand(2, 3, 3).mT[:, :2], padding=1),
    "attention": lambda x, model: F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None]),
    "module": lambda x, model: model(x),
    "copy": lambda x, model: x.to(torch.bfloat16, copy=True),
}


@pytest.mark.parametrize("name", FAKED)
def test_fake_tensors(device, name) -> None:
    """They have the CPU's metadata and the device's name, hold no memory, and compile nothing."""
    (x, model), (y, reference) = ((matrix(d), network(d)) for d in (device, "cpu"))
    with compiles(at_most=0), FakeTensorMode(allow_non_fake_inputs=True) as mode:
        out = FAKED[name](mode.from_tensor(x), copy.deepcopy(model))
    real = FAKED[name](y, reference)
    assert isinstance(out, FakeTensor) and out.device == x.device
    assert fake_facts(out) == fake_facts(real)


def test_a_training_step_of_fake_tensors(device) -> None:
    with compiles(at_most=0), FakeTensorMode(), torch.device(device):
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LayerNorm(4), torch.nn.Linear(4, 2))
        optimizer = torch.optim.AdamW(model.parameters())
        F.cross_entropy(model(torch.ones(2, 3)), torch.zeros(2, dtype=torch.int64)).backward()
        optimizer.step()
        assert model[0].weight.grad.device.type == device and model[0].weight.device.type == device
        moved = model[0].weight.detach().cpu()
    assert moved.device.type == "cpu"


def test_errors_of_fake_tensors(device) -> None:
    def run(device: str, wrong) -> None:
        with FakeTensorMode() as mode:
            wrong(mode.from_tensor(matrix(device)))

    for wrong in (
        lambda x: x @ x,
        lambda x: x.sum().item(),
        lambda x: x + torch.ones(2, 2, device=x.device),
        lambda x: x.view(4),
    ):
        assert_same_error(device, lambda d: run(d, wrong))


def test_fake_tensors_of_two_devices(device) -> None:
    with FakeTensorMode():
        x, y = torch.ones(2, device=device), torch.ones(2)
        if device != "cpu":
            with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
                x + y
        assert (x + torch.tensor(1.0)).device.type == device


# Subclasses


class Labelled(torch.Tensor):
    """A subclass by __torch_function__ alone: its label goes from operand to result."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        out = super().__torch_function__(function, types, args, kwargs)
        labels = [leaf.label for leaf in pytree.tree_leaves((args, kwargs)) if hasattr(leaf, "label")]
        for leaf in pytree.tree_leaves(out):
            if isinstance(leaf, cls) and labels:
                leaf.label = labels[0]
        return out


def test_subclass_by_function(device) -> None:
    def run(device: str) -> list:
        x = matrix(device).as_subclass(Labelled)
        x.label = "mine"
        outs = [x + 1, x.exp_(), x[0], torch.cat([x, x]), x.sum(), *x.split(1), x.clone()]
        assert {type(out) for out in outs} == {Labelled} and {out.label for out in outs} == {"mine"}
        assert type(x.as_subclass(torch.Tensor)) is torch.Tensor
        return [out.as_subclass(torch.Tensor) for out in outs]

    assert_same(run(device), run("cpu"))


class Scaled(torch.Tensor):
    """A wrapper: whole numbers and a factor, both on the device, that stand for a tensor of floats."""

    @staticmethod
    def __new__(cls, numbers: torch.Tensor, factor: torch.Tensor):
        return torch.Tensor._make_wrapper_subclass(
            cls,
            numbers.shape,
            strides=numbers.stride(),
            storage_offset=numbers.storage_offset(),
            dtype=factor.dtype,
            device=numbers.device,
        )

    def __init__(self, numbers: torch.Tensor, factor: torch.Tensor) -> None:
        self.numbers, self.factor = numbers, factor

    def __repr__(self) -> str:
        return f"Scaled({self.numbers}, {self.factor})"

    def __tensor_flatten__(self):
        return ["numbers", "factor"], None

    @classmethod
    def __tensor_unflatten__(cls, inner, context, size, stride):
        return cls(inner["numbers"], inner["factor"])

    def whole(self) -> torch.Tensor:
        return self.numbers * self.factor

    _moved = ("aten.detach.default", "aten.view.default", "aten.t.default", "aten.slice.Tensor", "aten.clone.default")

    @classmethod
    def __torch_dispatch__(cls, op, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if str(op) in cls._moved:  # what keeps the factor
            x = args[0]
            out = cls(op(x.numbers, *args[1:], **kwargs), x.factor)
            return return_and_correct_aliasing(op, args, kwargs, out)
        if op is torch.ops.aten._to_copy.default and kwargs.get("dtype", args[0].dtype) == args[0].dtype:
            return cls(args[0].numbers.to(kwargs.get("device")), args[0].factor.to(kwargs.get("device")))
        args, kwargs = pytree.tree_map_only(cls, cls.whole, (args, kwargs))
        return op(*args, **kwargs)


def scaled(device: str) -> Scaled:
    return Scaled(torch.arange(6, dtype=torch.int8, device=device).reshape(2, 3), torch.tensor(0.5, device=device))


def test_wrapper(device) -> None:
    def run(device: str) -> list[torch.Tensor]:
        x = scaled(device)
        assert x.device.type == device and x.dtype == torch.float32 and x.stride() == (3, 1)
        views = [x.view(3, 2), x.t(), x[1:], x.detach(), x.clone()]
        assert {type(view) for view in views} == {Scaled}
        return [*(view.whole() for view in views), x @ matrix(device).t(), x + 1, x.sum(), F.linear(matrix(device), x)]

    assert_same(run(device), run("cpu"))


def test_wrapper_moves(device) -> None:
    there = scaled("cpu").to(device)
    assert type(there) is Scaled
    assert there.device.type == there.numbers.device.type == there.factor.device.type == device
    back = there.to("cpu")
    assert back.device.type == back.numbers.device.type == "cpu"
    assert_same(back.whole(), scaled("cpu").whole())


def test_wrapper_as_a_parameter(device) -> None:
    """A quantized layer: module.to moves it, gradients go past it to the input."""

    def run(device: str) -> list[torch.Tensor]:
        layer = torch.nn.Linear(3, 2)
        layer.weight = torch.nn.Parameter(scaled("cpu"), requires_grad=False)
        torch.nn.init.ones_(layer.bias)
        layer = layer.to(device)
        assert isinstance(layer.weight, Scaled) and layer.weight.numbers.device.type == device
        x = matrix(device).requires_grad_()
        layer(x).square().sum().backward()
        return [x.grad, layer.bias.grad]

    swaps = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        assert_same(run(device), run("cpu"))
    finally:
        torch.__future__.set_swap_module_params_on_conversion(swaps)


def test_parameters_of_a_subclass_pickle(device) -> None:
    x = torch.nn.Parameter(matrix(device))
    for same in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert type(same) is torch.nn.Parameter and same.device == x.device and same.requires_grad
        assert_same(same, matrix("cpu"))
    buffer = torch.nn.Buffer(matrix(device), persistent=False)
    assert isinstance(buffer, torch.nn.Buffer) and buffer.device == x.device


def test_lazy_modules(device) -> None:
    def run(device: str) -> list:
        model = torch.nn.Sequential(torch.nn.LazyLinear(4, device=device), torch.nn.LazyBatchNorm1d(device=device))
        model(matrix(device))
        with torch.no_grad():
            model[0].weight.fill_(0.5), model[0].bias.zero_()
        return [model(matrix(device)), list(model[0].weight.shape)]

    assert_same(run(device), run("cpu"))


def test_lazy_modules_move(device) -> None:
    model = torch.nn.LazyLinear(4).to(device)
    assert model(matrix(device)).shape == (2, 4)


# Swaps


def test_swap_tensors(device) -> None:
    def run(device: str) -> list:
        x, y = matrix(device), torch.ones(3, dtype=torch.float64, device=device)
        x.mark, ids = "x", (id(x), id(y))
        torch.utils.swap_tensors(x, y)
        assert (id(x), id(y)) == ids and y.mark == "x" and not hasattr(x, "mark")
        x.add_(1), y.mul_(2)
        return [x, y]

    assert_same(run(device), run("cpu"))


def test_swap_between_devices(device) -> None:
    here, there = matrix("cpu"), matrix(device)
    torch.utils.swap_tensors(here, there)
    assert (here.device.type, there.device.type) == (device, "cpu")
    assert_same(here * 2, matrix("cpu") * 2)
    assert_same(there * 2, matrix("cpu") * 2)


def test_swap_is_refused(device) -> None:
    for wrong in (
        lambda x: (lambda base: (base[0], torch.utils.swap_tensors(base, x))[1])(x.clone()),
        lambda x: (lambda leaf: (leaf.exp(), torch.utils.swap_tensors(leaf, x))[1])(x.clone().requires_grad_()),
    ):
        ours, theirs = (outcome(lambda: wrong(matrix(d)) and None) for d in (device, "cpu"))
        assert ours == theirs


@pytest.mark.parametrize("swap", [False, True])
def test_modules_convert(device, swap) -> None:
    """Module.to changes parameters or swaps them, as the user has chosen; an optimizer keeps what it holds."""
    torch.__future__.set_swap_module_params_on_conversion(swap)
    try:
        model = network("cpu")
        before = list(model.parameters())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        model.to(device)
        assert all(old is new for old, new in zip(before, model.parameters()) if swap)
        if swap:
            model(matrix(device)).sum().backward()
            optimizer.step()
            reference = network("cpu")
            reference(matrix("cpu")).sum().backward()
            torch.optim.SGD(reference.parameters(), lr=0.5).step()
            assert_same(list(model.parameters()), list(reference.parameters()))
        model.to(torch.float64).cpu()
        assert {(p.device.type, p.dtype) for p in model.parameters()} == {("cpu", torch.float64)}
        model.load_state_dict(network(device).state_dict())
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)


# Parametrizations


class Symmetric(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x: torch.Tensor) -> torch.Tensor:
        return x.triu()


def square_layer(device: str) -> torch.nn.Linear:
    layer = torch.nn.Linear(3, 3)
    with torch.no_grad():
        layer.weight.copy_(torch.eye(3) + torch.linspace(-0.3, 0.4, 9).reshape(3, 3))
        layer.bias.zero_()
    return layer.to(device)


def spectral(layer: torch.nn.Module) -> torch.nn.Module:
    """Its first vectors are random: they are set, so that devices agree."""
    parametrizations.spectral_norm(layer)
    norm = layer.parametrizations.weight[0]
    with torch.no_grad():
        norm._u.fill_(3**-0.5), norm._v.fill_(3**-0.5)
    return layer


PARAMETRIZATIONS = {
    "weight_norm": parametrizations.weight_norm,
    "weight_norm of all": lambda layer: parametrizations.weight_norm(layer, dim=None),
    "spectral_norm": spectral,
    "orthogonal, matrix_exp": lambda layer: parametrizations.orthogonal(layer, orthogonal_map="matrix_exp"),
    "orthogonal, cayley": lambda layer: parametrizations.orthogonal(layer, orthogonal_map="cayley"),
    "orthogonal, householder": lambda layer: parametrizations.orthogonal(layer, orthogonal_map="householder"),
    "symmetric": lambda layer: parametrize.register_parametrization(layer, "weight", Symmetric()),
}


@pytest.mark.parametrize("name", PARAMETRIZATIONS)
def test_parametrization(device, name) -> None:
    """Two steps of training, the state dict in between, and what is left when it is removed."""

    def run(device: str) -> list:
        layer = PARAMETRIZATIONS[name](square_layer(device))
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            layer(matrix(device)).square().sum().backward()
            optimizer.step()
        gradients = [parameter.grad for parameter in layer.parameters()]
        state = {key: value.clone() for key, value in layer.state_dict().items()}
        with parametrize.cached():
            assert layer.weight is layer.weight
        layer.eval()
        parametrize.remove_parametrizations(layer, "weight")
        return [gradients, state, layer.weight, layer(matrix(device))]

    assert_same(run(device), run("cpu"), strides=False, rtol=1e-5, atol=1e-5)


def test_orthogonal_is_orthogonal(device) -> None:
    """On a random layer and a new value, too, whichever basis a device's QR takes."""
    layer = parametrizations.orthogonal(torch.nn.Linear(3, 5).to(device))
    for _ in range(2):
        assert_same(layer.weight.mT @ layer.weight, torch.eye(3), atol=1e-5, rtol=0)
        layer.weight = torch.nn.init.orthogonal_(torch.empty(5, 3, device=device))


@pytest.mark.parametrize("name", ("weight_norm", "spectral_norm"))
def test_older_parametrizations(device, name) -> None:
    def run(device: str) -> list:
        with pytest.warns(FutureWarning) if name == "weight_norm" else pytest.MonkeyPatch().context():
            layer = getattr(torch.nn.utils, name)(square_layer(device))
        if name == "spectral_norm":
            layer.weight_u.fill_(3**-0.5)
            layer.weight_v.fill_(3**-0.5)
        layer(matrix(device)).square().sum().backward()
        return [layer.weight, [parameter.grad for parameter in layer.parameters()]]

    assert_same(run(device), run("cpu"), strides=False, rtol=1e-5, atol=1e-5)


def test_pruning(device) -> None:
    def run(device: str) -> list:
        layer = prune.l1_unstructured(square_layer(device), "weight", amount=4)
        layer(matrix(device)).sum().backward()
        prune.ln_structured(layer, "weight", amount=1, n=2, dim=0)
        layer(matrix(device))
        return [layer.weight, layer.weight_mask, layer.weight_orig.grad]

    assert_same(run(device), run("cpu"))


def test_vectors_of_parameters(device) -> None:
    def run(device: str) -> list:
        model = network(device)
        vector = torch.nn.utils.parameters_to_vector(model.parameters())
        torch.nn.utils.vector_to_parameters(vector.detach() * 2, model.parameters())
        model(matrix(device)).sum().backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        torch.nn.utils.clip_grad_value_(model.parameters(), 0.1)
        return [vector, norm, [(parameter, parameter.grad) for parameter in model.parameters()]]

    assert_same(run(device), run("cpu"))
