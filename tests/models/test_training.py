"""Training on the device follows training on the CPU, natively and without compiling twice."""

import pytest
import torch

from tests.compare import assert_same
from tests.device import compiles, no_fallback
from tests.models.networks import OPTIMIZERS, TASKS, Task, mlp, transformer
from tests.ops.distribution import distance, largest_distance

STEPS = 20


def _train(task: Task, optimizer_name: str, steps: int = STEPS) -> list[float]:
    optimizer = OPTIMIZERS[optimizer_name](task.model.parameters())
    losses = []
    for _ in range(steps):
        loss = task.loss()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def _task(name: str, device: str) -> Task:
    torch.manual_seed(0)
    return TASKS[name]().to(device)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", TASKS)
def test_losses_follow_the_cpu(device, name, optimizer) -> None:
    """Two correct CPU runs differ by about 5e-7."""
    ours, theirs = _task(name, device), _task(name, "cpu")
    with no_fallback():
        losses = _train(ours, optimizer)
    expected = _train(theirs, optimizer)
    assert expected[-1] < 0.95 * expected[0], "the task is one that can be learned"
    torch.testing.assert_close(losses, expected, rtol=2e-5, atol=0)
    if optimizer == "sgd":
        # AdamW divides by the gradient's size: where it is all rounding, as a bias before batch norm's, so is the step.
        assert_same(ours.model.state_dict(), theirs.model.state_dict(), rtol=1e-3, atol=1e-4)
    with compiles(at_most=0):
        _train(_task(name, device), optimizer, steps=3)


@pytest.mark.parametrize("name", TASKS)
def test_inference(device, name) -> None:
    ours, theirs = _task(name, device), _task(name, "cpu")
    ours.model.eval(), theirs.model.eval()
    with torch.no_grad(), no_fallback():
        assert_same(ours.model(ours.batch[0]), theirs.model(theirs.batch[0]), strides=False, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("make", (mlp, transformer), ids=lambda make: make.__name__)
def test_dropout_has_the_cpus_distribution(device, make) -> None:
    """The loss of one batch under many masks: the same distribution, and never the same mask twice."""
    losses = []
    for where in (device, "cpu"):
        torch.manual_seed(0)
        task = make(dropout=0.4).to(where)
        task.model.train()
        with torch.no_grad():
            losses.append([task.loss().item() for _ in range(100)])
    assert len(set(losses[0])) > 95
    assert distance(*map(torch.tensor, losses)) <= largest_distance(100, 100, probability=1e-3)


def test_bfloat16_parameters(device) -> None:
    task = _task("transformer", device)
    task.model.to(torch.bfloat16)
    losses = _train(task, "adamw")
    assert losses[-1] < 0.9 * losses[0]


def test_gradients_of_the_first_step(device) -> None:
    for name in TASKS:
        gradients = []
        for where in (device, "cpu"):
            task = _task(name, where)
            task.loss().backward()
            gradients.append({key: parameter.grad for key, parameter in task.model.named_parameters()})
        assert_same(*gradients, strides=False, rtol=1e-4, atol=1e-6)


def test_clipping_and_schedules(device) -> None:
    """What a training script does around its steps."""

    def run(where: str) -> list[float]:
        task = _task("mlp", where)
        optimizer = torch.optim.AdamW(task.model.parameters(), lr=0.01)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)
        norms = []
        for _ in range(5):
            optimizer.zero_grad()
            task.loss().backward()
            norms.append(torch.nn.utils.clip_grad_norm_(task.model.parameters(), 0.5).item())
            optimizer.step()
            schedule.step()
        return norms

    torch.testing.assert_close(run(device), run("cpu"), rtol=1e-4, atol=1e-6)
