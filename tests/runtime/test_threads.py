"""Many threads at once: right results, no deadlock against the GIL or against autograd's threads."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from tests.compare import assert_same, outcome
from tests.device import ON_TPU
from tests.runtime.subprocesses import run

THREADS = 8


def _in_threads(body: Callable[[int], object]) -> list:
    """What `body(index)` returns in each of the threads, which start together."""
    barrier = threading.Barrier(THREADS)

    def run(index: int) -> object:
        barrier.wait()
        return body(index)

    with ThreadPoolExecutor(THREADS) as pool:
        return [future.result(timeout=120) for future in [pool.submit(run, index) for index in range(THREADS)]]


def test_operations(device) -> None:
    def work(index: int, device: str) -> torch.Tensor:
        x = torch.full((3, 3), float(index), device=device)
        for step in range(20):
            x = (x + step).relu_() * 0.5
            x[step % 3].add_(1)
        return x.cpu()

    assert_same(_in_threads(lambda index: work(index, device)), [work(index, "cpu") for index in range(THREADS)])


def test_misses_of_one_program(device) -> None:
    """All threads need the same new program at once."""
    results = _in_threads(lambda index: (torch.full((17, 3), float(index), device=device).exp() - 1).cpu())
    assert_same(results, [torch.full((17, 3), float(index)).exp() - 1 for index in range(THREADS)])


def test_misses_of_many_programs(device) -> None:
    results = _in_threads(lambda index: torch.arange(5 + index, device=device).cumsum(0).cpu())
    assert_same(results, [torch.arange(5 + index).cumsum(0) for index in range(THREADS)])


def test_copies_with_conversion(device) -> None:
    sources = [torch.full((1000,), index, dtype=torch.float64) for index in range(THREADS)]
    dtypes = (torch.bfloat16, torch.float32, torch.int64, torch.float16)
    results = _in_threads(lambda index: [sources[index].to(device, dtypes[step % 4]).cpu() for step in range(20)])
    assert_same(results, [[sources[index].to(dtypes[step % 4]) for step in range(20)] for index in range(THREADS)])


def test_writes_to_one_tensor(device) -> None:
    """Unsynchronized writes race, as on any device, but every value that is read is one that a thread wrote."""
    x = torch.zeros(64, device=device)

    def work(index: int) -> set[float]:
        return {value for _ in range(20) for value in x.fill_(float(index)).clone().tolist()}

    assert set().union(*_in_threads(work)) <= {float(index) for index in range(THREADS)}


def test_backward(device) -> None:
    def work(index: int) -> torch.Tensor:
        x = torch.full((4, 4), 0.1 * index, device=device, requires_grad=True)
        (x @ x).tanh().sum().backward()
        return x.grad.cpu()

    results = _in_threads(work)
    for index, result in enumerate(results):
        x = torch.full((4, 4), 0.1 * index, requires_grad=True)
        (x @ x).tanh().sum().backward()
        assert_same(result, x.grad)


def test_backward_of_one_graph(device) -> None:
    """All threads go back through the same graph and add to the same gradient: nothing is lost."""

    def gradient(device: str, start: Callable) -> torch.Tensor:
        x = torch.linspace(-1, 1, 6).to(device).requires_grad_()
        y = (x.exp() * x).sum()
        start(lambda index: y.backward(retain_graph=True))
        return x.grad

    assert_same(gradient(device, _in_threads), gradient("cpu", lambda body: [body(i) for i in range(THREADS)]))


def test_backward_through_a_shared_part(device) -> None:
    """Each thread differentiates its own loss of what they share."""
    shared = torch.linspace(-1, 1, 6).to(device).requires_grad_()
    middle = shared.sin()

    def work(index: int) -> torch.Tensor:
        (gradient,) = torch.autograd.grad((middle * (index + 1)).sum(), shared, retain_graph=True)
        return gradient.cpu()

    assert_same(_in_threads(work), [torch.linspace(-1, 1, 6).cos() * (index + 1) for index in range(THREADS)])


def test_copies_between_all_dtypes(device) -> None:
    """To the device, on it, and back, each with a conversion, while other threads write over what they sent."""
    dtypes = (torch.bfloat16, torch.float32, torch.int64, torch.float16, torch.uint8, torch.float64, torch.bool)

    def work(index: int, device: str) -> list[torch.Tensor]:
        received = []
        for step in range(20):
            numbers = torch.arange(index, index + 60).to(dtypes[step % 7])
            source = numbers.reshape(6, 10)[:, index % 3 :: 2]
            there = source.to(device, dtypes[(step + 1) % 7], non_blocking=True)
            source.zero_()
            target = torch.empty(there.shape, dtype=dtypes[(step + 3) % 7])
            received.append(target.copy_(there.to(dtypes[(step + 2) % 7])))
        return received

    assert_same(_in_threads(lambda index: work(index, device)), [work(index, "cpu") for index in range(THREADS)])


def test_modes_are_the_threads_own(device) -> None:
    """Gradient mode, autocast, default device and default streams of one thread are nothing to the others."""
    x = torch.ones(2, 2, device=device, requires_grad=True)
    contexts = (
        torch.no_grad,
        torch.enable_grad,
        lambda: torch.autocast(device, torch.bfloat16),
        lambda: torch.device(device),
    )

    def work(index: int) -> list:
        seen = []
        for step in range(10):
            with contexts[index % 4]():
                y = x @ x
                seen.append((y.requires_grad, y.dtype, torch.ones(1).device.type, y.sum().item()))
        return seen

    for index, seen in enumerate(_in_threads(work)):
        dtype = torch.bfloat16 if index % 4 == 2 else torch.float32
        assert seen == [(index % 4 != 0, dtype, device if index % 4 == 3 else "cpu", 8.0)] * 10


def test_errors_are_the_threads_own(device) -> None:
    def work(index: int, device: str) -> list:
        x = torch.ones(2, 3 + index, device=device)
        wrong = [lambda: x @ x, lambda: x[5], lambda: x.view(1), lambda: x + torch.ones(2, 2, device=device)]
        return [str(outcome(wrong[step % 4])) for step in range(12)] + [x.sum().item()]

    assert _in_threads(lambda index: work(index, device)) == [work(index, "cpu") for index in range(THREADS)]


def test_one_generator_of_all_threads(device) -> None:
    """Every call takes numbers of its own: those that one thread would have drawn alone, in some order."""
    generator = torch.Generator(device).manual_seed(3)

    def draw(times: int) -> list[tuple[float, ...]]:
        return [tuple(torch.rand(4, device=device, generator=generator).tolist()) for _ in range(times)]

    draws = _in_threads(lambda index: draw(20))
    generator.manual_seed(3)
    alone = draw(20 * THREADS)
    if ON_TPU:  # the CPU's generator is locked for each block of numbers, not for each call
        assert sorted(sum(draws, [])) == sorted(alone)


def test_a_loader_that_feeds_the_device(device) -> None:
    """A thread reads ahead and copies; another one trains on what it finds: the usual prefetcher."""

    def train(device: str) -> list:
        data = torch.utils.data.TensorDataset(torch.linspace(-1, 1, 96).reshape(24, 4), torch.arange(24) % 3)
        loader = torch.utils.data.DataLoader(data, batch_size=6, pin_memory=device != "cpu")
        ready: queue.Queue = queue.Queue(maxsize=2)

        def read() -> None:
            for _ in range(3):
                for x, y in loader:
                    ready.put((x.to(device, torch.float64, non_blocking=True).to(torch.float32), y.to(device)))
            ready.put(None)

        model = torch.nn.Linear(4, 3)
        with torch.no_grad():
            model.weight.copy_(torch.linspace(-1, 1, 12).reshape(3, 4)), model.bias.zero_()
        optimizer = torch.optim.SGD(model.to(device).parameters(), lr=0.1, momentum=0.9)
        thread, losses = threading.Thread(target=read), []
        thread.start()
        while (batch := ready.get(timeout=60)) is not None:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(batch[0]), batch[1])
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        thread.join()
        return [losses, *model.parameters()]

    assert_same(train(device), train("cpu"), rtol=1e-5, atol=1e-6)


def test_loaders_of_several_threads(device) -> None:
    """The same data set through a loader of each thread, collated on the device."""
    data = torch.utils.data.TensorDataset(torch.arange(12.0, device=device), torch.arange(12, device=device))

    def work(index: int) -> list[float]:
        loader = torch.utils.data.DataLoader(data, batch_size=1 + index % 3)
        return [(x * y).sum().item() for x, y in loader]

    for results in _in_threads(work):
        assert sum(results) == sum(i * i for i in range(12))


def test_random_numbers_of_threads_differ(device) -> None:
    draws = [tuple(draw.tolist()) for draw in _in_threads(lambda index: torch.rand(8, device=device).cpu())]
    assert len(set(draws)) == THREADS


# What may hang does so in a process of its own, which says where after a minute and a half.
_WATCHED = """
import faulthandler, gc, sys, threading
faulthandler.dump_traceback_later(90, exit=True)
import torch

def start(*bodies):
    barrier, failures = threading.Barrier(len(bodies) + 1), []
    def run(body):
        barrier.wait()
        try:
            body()
        except BaseException as error:
            failures.append(repr(error))
    threads = [threading.Thread(target=run, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    barrier.wait()
    return threads, failures

def finish(threads, failures):
    for thread in threads:
        thread.join()
    assert not failures, failures
"""


def watched(program: str, **environment: str) -> None:
    run(_WATCHED + program, timeout=100, **environment)


@pytest.mark.parametrize("threads", ["0", "2"])
def test_hooks_in_backward_while_others_compile(threads) -> None:
    """Autograd's thread runs Python: it needs the GIL, a program that others are compiling, and its result."""
    watched(
        """
def train():
    for step in range(12):
        x = torch.full((2, 3), 0.5, device="tpu", requires_grad=True)
        def hook(gradient):
            wanted = gradient.reshape(-1)[: 1 + step % 5].cumsum(0)
            gc.collect(0)
            assert wanted[-1].item() == 2.0 * (1 + step % 5), wanted
            return gradient * 2
        y = x * 2
        y.register_hook(hook)
        (y * 2).sum().backward()
        assert x.grad.tolist() == [[8.0] * 3] * 2

running = start(train, train, train)
for step in range(12):
    x = torch.full((6,), 2.0, device="tpu")[: 1 + step % 5]
    assert x.cumsum(0)[-1].item() == 2.0 * (1 + step % 5)
    assert torch.arange(step + 2, device="tpu").prod().item() == 0
finish(*running)
        """,
        TORCHTPU_COMPILE_THREADS=threads,
    )


def test_functions_and_checkpoints_in_backward_while_others_compile() -> None:
    """Backward within backward, and the forward pass again: programs that are new on autograd's thread."""
    watched(
        """
from torch.utils.checkpoint import checkpoint

class Cubed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            y = x.detach().requires_grad_()
            (inner,) = torch.autograd.grad((y * y * y).sum(), y)
        return inner * gradient

def body(offset):
    def train():
        for step in range(8):
            size = 2 + (step + offset) % 4
            x = torch.full((size,), 2.0, device="tpu", requires_grad=True)
            checkpoint(lambda t: Cubed.apply(t) * 0.5, x, use_reentrant=offset % 2 == 0).sum().backward()
            assert x.grad.tolist() == [6.0] * size
    return train

running = start(*(body(offset) for offset in range(4)))
for step in range(8):
    assert torch.ones(step + 1, 2, device="tpu").std(1).sum().item() == 0
finish(*running)
        """
    )


def test_the_runtime_starts_in_many_threads_at_once() -> None:
    """The first calls of a process: its start, the imports of what compiles, and the compilations themselves."""
    watched(
        """
def body(index):
    def first():
        if index % 2:
            import jax.numpy
        assert (torch.arange(3 + index % 3, device="tpu") + 1).sum().item() == sum(range(1, 4 + index % 3))
    return first

assert not torch.tpu.is_initialized()
finish(*start(*(body(index) for index in range(8))))
        """
    )


def test_a_module_that_computes_when_it_is_imported(tmp_path) -> None:
    """The import lock is held by then, and other threads compile, which imports as well."""
    code = "import torch; VALUE = torch.ones(3, 5, device='tpu').cumprod(0).sum().item()"
    (tmp_path / "computes.py").write_text(code)
    watched(
        f"""
sys.path.insert(0, {str(tmp_path)!r})
def imports():
    import computes
    assert computes.VALUE == 15, computes.VALUE
def compiles():
    assert torch.ones(3, 5, device="tpu").amax(0).sum().item() == 5
finish(*start(imports, compiles, imports))
        """
    )


def test_tensors_die_on_any_thread() -> None:
    """In cycles, under the collector, in the queue of another thread, while their values are still to come."""
    watched(
        """
import queue
handed = queue.Queue(maxsize=4)
def makes():
    for step in range(100):
        x = torch.ones(50, 50, device="tpu")
        x = x @ x
        cycle = [x, x[1:]]
        cycle.append(cycle)
        handed.put(x + step)
    handed.put(None)
def drops():
    while handed.get() is not None:
        gc.collect(0)
finish(*start(makes, drops, makes, drops))
gc.collect()
torch.tpu.synchronize()
assert torch.tpu.memory_allocated() == 0, torch.tpu.memory_allocated()
        """
    )
