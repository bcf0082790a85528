"""Many threads at once: right results, no deadlock against the GIL or against autograd's threads."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import torch

from tests.compare import assert_same

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


def test_random_numbers_of_threads_differ(device) -> None:
    draws = [tuple(draw.tolist()) for draw in _in_threads(lambda index: torch.rand(8, device=device).cpu())]
    assert len(set(draws)) == THREADS
