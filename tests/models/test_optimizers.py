"""Every optimizer of torch.optim follows the CPU for five steps, in each of its forms, and its state can be moved."""

import inspect
import io
from collections.abc import Iterator

import pytest
import torch

from tests.compare import assert_same
from tests.device import compiles, no_fallback

_STEPS = 5
# What is not plain about an optimizer; all others get a learning rate.
_OPTIONS: dict[str, dict] = {
    "ASGD": {"lr": 0.01, "t0": 2},
    "Adadelta": {"weight_decay": 0.1},
    "Adafactor": {"lr": 0.01},
    "Adam": {"lr": 0.01, "amsgrad": True, "weight_decay": 0.1},
    "AdamW": {"lr": 0.01, "amsgrad": True, "maximize": True},
    "LBFGS": {"lr": 0.1, "max_iter": 3},
    "Muon": {"lr": 0.01},
    "RMSprop": {"lr": 0.01, "centered": True, "momentum": 0.9},
    "SGD": {"lr": 0.01, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
}
_SPARSE = {"SparseAdam"}  # takes gradients that are sparse


def _forms() -> Iterator[tuple[str, dict]]:
    for name, optimizer in vars(torch.optim).items():
        if not inspect.isclass(optimizer) or name in {"Optimizer", *_SPARSE}:
            continue
        options = _OPTIONS.get(name, {"lr": 0.01})
        takes = inspect.signature(optimizer).parameters
        yield name, options
        for form in ("foreach", "fused"):
            if form in takes:
                yield name, options | {form: True}
        if "foreach" in takes:
            yield name, options | {"foreach": False}
        if "capturable" in takes:
            yield name, options | {"capturable": True}


def _label(value: object) -> str | None:
    form = [key for key in ("foreach", "fused", "capturable") if isinstance(value, dict) and key in value]
    return f"{form[0]}={value[form[0]]}" if form else "plain" if isinstance(value, dict) else None


def _parameters(device: str, name: str = "") -> list[torch.nn.Parameter]:
    """Muon takes matrices only. LBFGS divides differences of gradients: in float32 it is rounding that it follows."""
    torch.manual_seed(0)
    shapes = ((4, 3), (3, 5)) + (((4,), ()) if name != "Muon" else ())
    dtype = torch.float64 if name == "LBFGS" else torch.float32
    return [torch.nn.Parameter(torch.randn(shape).to(device, dtype)) for shape in shapes]


def _optimizer(name: str, parameters: list, options: dict) -> torch.optim.Optimizer:
    return getattr(torch.optim, name)(parameters, **options)


def _step(optimizer: torch.optim.Optimizer, parameters: list[torch.nn.Parameter]) -> torch.Tensor:
    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        total = sum((parameter.sin() * parameter).sum() for parameter in parameters)
        total.backward()
        return total

    return optimizer.step(loss)


@pytest.mark.parametrize("name, options", list(_forms()), ids=_label)
def test_follows_the_cpu(device, name, options) -> None:
    ours, theirs = (_parameters(where, name) for where in (device, "cpu"))
    optimizer = _optimizer(name, ours, options)
    # The CPU has no such form; what it computes is that of the plain one.
    plain = {key: value for key, value in options.items() if key != "capturable"}
    reference = _optimizer(name, theirs, plain)
    # Muon multiplies in bfloat16.
    tolerance = {"rtol": 2e-2, "atol": 2e-3} if name == "Muon" else {"rtol": 1e-5, "atol": 1e-6}
    for _ in range(_STEPS):
        with no_fallback():
            loss = _step(optimizer, ours)
        assert_same(loss, _step(reference, theirs), **tolerance)
        assert_same(ours, theirs, **tolerance)


@pytest.mark.parametrize("name", ("SGD", "Adam", "AdamW", "Adagrad"))
def test_fused_steps_share_a_program(device, name) -> None:
    parameters = _parameters(device)
    optimizer = _optimizer(name, parameters, {"lr": 0.01, "fused": True})
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for step in range(4):
        with compiles(at_most=0 if step > 1 else 1000):
            _step(optimizer, parameters)
        schedule.step()


def test_a_rate_that_is_a_tensor(device) -> None:
    results = []
    for where in (device, "cpu"):
        parameters = _parameters(where)
        optimizer = torch.optim.AdamW(parameters, lr=torch.tensor(0.01), fused=True)
        _step(optimizer, parameters)
        results.append(parameters)
    assert_same(*results)


def test_state_is_saved_and_loaded(device) -> None:
    """From the device to the CPU and back; then both go on alike."""
    parameters = _parameters(device)
    optimizer = torch.optim.AdamW(parameters, lr=0.01)
    _step(optimizer, parameters)
    file = io.BytesIO()
    torch.save({"state": optimizer.state_dict(), "parameters": parameters}, file)
    for where in ("cpu", device):
        file.seek(0)
        saved = torch.load(file, map_location=where)
        copies = [torch.nn.Parameter(parameter.detach().clone()) for parameter in saved["parameters"]]
        loaded = torch.optim.AdamW(copies, lr=0.5)
        loaded.load_state_dict(saved["state"])
        assert {state["exp_avg"].device.type for state in loaded.state.values()} == {where}
        _step(loaded, copies)
        if where == "cpu":
            _step(optimizer, parameters)
            reference = [parameter.detach().cpu() for parameter in parameters]
        assert_same([copy.detach().cpu() for copy in copies], reference)


@pytest.mark.parametrize("fused", (False, True), ids=("unscaled", "fused"))
def test_a_gradient_scaler_skips_infinities(device, fused) -> None:
    """The second step finds one: parameters stay, the scale shrinks; it grows after two good ones."""

    def run(where: str) -> list:
        parameters = _parameters(where)
        optimizer = torch.optim.AdamW(parameters, lr=0.01, fused=fused)
        scaler = torch.amp.GradScaler(where, init_scale=1024.0, growth_interval=2)
        history = []
        for step in range(4):
            optimizer.zero_grad()
            with torch.autocast(where, dtype=torch.bfloat16):
                loss = (parameters[0].mT @ parameters[0]).float().square().mean() + parameters[2].sum()
            scaler.scale(loss * (float("inf") if step == 1 else 1.0)).backward()
            scaler.step(optimizer)
            scaler.update()
            history.append((scaler.get_scale(), [parameter.detach().cpu().clone() for parameter in parameters]))
        return history

    with no_fallback():
        ours = run(device)
    assert_same(ours, run("cpu"), rtol=1e-2, atol=1e-3)
    scales = [scale for scale, _ in ours]
    assert scales == [1024.0, 512.0, 512.0, 1024.0]
    assert_same(ours[0][1], ours[1][1])


def test_clipping(device) -> None:
    """Of gradients in two dtypes, by value, by norm and by the largest element."""

    def run(where: str) -> list:
        parameters = _parameters(where)
        parameters.append(torch.nn.Parameter(torch.ones(3, dtype=torch.float64, device=where)))
        results = []
        for clip in (
            lambda: torch.nn.utils.clip_grad_norm_(parameters, 0.5),
            lambda: torch.nn.utils.clip_grad_norm_(parameters, 0.5, norm_type=float("inf"), foreach=True),
            lambda: torch.nn.utils.clip_grad_value_(parameters, 0.1),
            lambda: torch.nn.utils.get_total_norm([parameter.grad for parameter in parameters]),
        ):
            for parameter in parameters:
                parameter.grad = parameter.detach().cos()
            results.append((clip(), [parameter.grad for parameter in parameters]))
        return results

    with no_fallback():
        ours = run(device)
    assert_same(ours, run("cpu"))
