"""How many programs a training step runs: an op is one, and so is an optimizer's step however many parameters it has."""

from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.device import compiles
from tests.models.networks import Task, wide_transformer

class _Kernels(TorchDispatchMode):
    """Counts the calls that compute something: those that return no view of an argument, and not nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        views = any(r.alias_info is not None and not r.alias_info.is_write for r in func._schema.returns)
        self.count += not views
        return func(*args, **kwargs or {})


def _executions(body: Callable[[], None]) -> int:
    before = torch.tpu.cache_stats()
    body()
    after = torch.tpu.cache_stats()
    return sum(after[name] - before[name] for name in ("hits", "misses"))


def _step(task: Task, optimizer: torch.optim.Optimizer) -> None:
    task.loss().backward()
    optimizer.step()
    optimizer.zero_grad()


def _training(device: str, **options: bool) -> tuple[Task, torch.optim.Optimizer]:
    torch.manual_seed(0)
    task = wide_transformer().to(device)
    return task, torch.optim.AdamW(task.model.parameters(), lr=1e-3, **options)


def test_a_step_runs_no_more_programs_than_the_cpu_kernels() -> None:
    training = _training("tpu")
    _step(*training), _step(*training)
    with compiles(at_most=0):
        executions = _executions(lambda: _step(*training))
    training = _training("cpu", foreach=True)
    _step(*training)
    with _Kernels() as kernels:
        _step(*training)
    assert executions <= kernels.count, f"{executions} executions, {kernels.count} kernels"


def test_an_optimizer_runs_few_programs() -> None:
    task, optimizer = _training("tpu", fused=True)
    for _ in range(2):
        task.loss().backward()
        optimizer.step()
    task.loss().backward()
    with compiles(at_most=0):
        assert _executions(optimizer.step) <= 3
        for group in optimizer.param_groups:  # as schedules do
            group["lr"], group["betas"] = 5e-4, (0.85, 0.999)
        optimizer.step()
