"""In-place writes: who sees them, who must not, and what PyTorch forbids."""

import gc
import math
import warnings

import pytest
import torch

from tests.compare import assert_same, assert_same_error, assert_same_outcome
from tests.device import DEVICE, ON_TPU, compiles


def test_a_clone_keeps_its_values(device) -> None:
    """The write donates its buffer; what was read from it before must not go with it."""
    x = torch.zeros(3, device=device)
    copies = [x.clone(), x + 0, x.to(device, copy=True), x.to("cpu", copy=True)]
    for step in range(3):
        x.add_(1)
        copies.append(x.clone())
    assert_same(copies, [torch.full((3,), float(value)) for value in (0, 0, 0, 0, 1, 2, 3)])


def test_whole_copies_may_share_a_buffer_until_one_is_written(device) -> None:
    x = torch.arange(4.0).to(device)
    y = torch.empty(4, device=device).copy_(x)
    z = y.clone()
    y.mul_(10)
    x.zero_()
    assert_same((x, y, z), (torch.zeros(4), torch.arange(4.0) * 10, torch.arange(4.0)))


def test_detach_and_data_share(device) -> None:
    x = torch.ones(2, requires_grad=True, device=device)
    detached, data = x.detach(), x.data
    detached.add_(1)
    assert_same((x, data), (torch.full((2,), 2.0),) * 2)
    data.mul_(2)
    assert_same((x, detached), (torch.full((2,), 4.0),) * 2)
    x.data = torch.zeros(2, device=device)
    assert_same((x, detached), (torch.zeros(2), torch.full((2,), 4.0)))


def test_version_counters(device) -> None:
    def run(device: str) -> list[int]:
        x = torch.zeros(2, 2, device=device)
        x.add_(1), x[0].mul_(2), x.detach().fill_(1), torch.add(x, 1, out=x)
        return [x._version, x[1]._version, x.data._version, x.clone()._version]

    assert run(device) == run("cpu")


def test_saved_tensors_are_protected(device) -> None:
    def run(device: str) -> None:
        x = torch.ones(2, requires_grad=True, device=device)
        y = x.exp()
        y.add_(1)
        y.sum().backward()

    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        run(device)


def test_leaf_in_place(device) -> None:
    assert_same_error(device, lambda d: torch.ones(2, requires_grad=True, device=d).add_(1))


def test_in_place_through_autograd(device) -> None:
    def run(device: str) -> list[torch.Tensor]:
        x = torch.arange(1.0, 5.0).to(device).requires_grad_()
        y = x * 2
        y[1:3].mul_(x[:2])
        y.add_(1)
        y[0] = 7
        (y * y).sum().backward()
        return [y, x.grad]

    assert_same(run(device), run("cpu"))


def test_gradients_accumulate(device) -> None:
    x = torch.ones(3, device=device, requires_grad=True)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first
    assert_same(x.grad, torch.full((3,), 5.0))


def test_internal_overlap(device) -> None:
    for write in (
        lambda x: x.add_(1),
        lambda x: x.fill_(1),
        lambda x: x.copy_(torch.ones(3, device=x.device)),
        lambda x: x.exp_(),
    ):
        assert_same_outcome(
            lambda: write(torch.zeros(1, device=device).expand(3)), lambda: write(torch.zeros(1).expand(3))
        )


def test_partial_overlap(device) -> None:
    assert_same_error(device, lambda d: (lambda x: x[1:].add_(x[:-1]))(torch.arange(4.0, device=d)))
    assert_same_error(device, lambda d: (lambda x: torch.add(x[1:], 1, out=x[:-1]))(torch.arange(4.0, device=d)))


def test_full_overlap_is_fine(device) -> None:
    x = torch.arange(4.0, device=device)
    torch.add(x, x, out=x)
    x.mul_(x)
    assert_same(x, (torch.arange(4.0) * 2) ** 2)


def test_in_place_keeps_dtype_and_shape(device) -> None:
    for write in (
        lambda d: torch.ones(2, dtype=torch.int64, device=d).add_(0.5),
        lambda d: torch.ones(2, device=d).add_(torch.ones(3, 2, device=d)),
        lambda d: torch.ones(2, device=d).add_(torch.ones(2, dtype=torch.complex64, device=d)),
    ):
        assert_same_error(device, write)
    assert_same(torch.ones(2, dtype=torch.int64, device=device).mul_(3), torch.full((2,), 3))
    assert_same(
        torch.ones(2, 3, device=device).add_(torch.arange(3, device=device)), torch.ones(2, 3) + torch.arange(3)
    )


@pytest.mark.skipif(not ON_TPU, reason="PyTorch's own kernel overwrites a column before it has broadcast it")
@pytest.mark.parametrize("sizes", [(), (4,), (1, 4), (3, 1)], ids=str)
def test_self_that_grows(device, sizes) -> None:
    """addbmm_, alone among in-place ops, broadcasts self. What shares its memory keeps its shape."""
    batches = torch.randn(2, 3, 5), torch.randn(2, 5, 4)
    for scale, programs in ((2.0, 100), (3.0, 0)):
        base = torch.arange(24.0)
        start = base[2 : 2 + math.prod(sizes)].view(sizes)
        expected = torch.addbmm(start, *batches, beta=0.5, alpha=scale)
        ours = base.to(device)
        x = ours[2 : 2 + math.prod(sizes)].view(sizes)
        alias = x.view(sizes)
        with compiles(at_most=programs):
            assert x.addbmm_(*(batch.to(device) for batch in batches), beta=0.5, alpha=scale) is x
        base[2:14] = expected.flatten()
        assert_same((x, alias, ours), (expected, start, base))


def test_self_that_cannot_grow(device) -> None:
    for sizes in ((5, 4), (1, 3, 4), (0,)):
        assert_same_error(
            device,
            lambda d: torch.ones(sizes, device=d).addbmm_(torch.ones(2, 3, 5, device=d), torch.ones(2, 5, 4, device=d)),
        )


def test_out_is_resized_with_the_usual_warning(device) -> None:
    def run(device: str) -> list[str]:
        x = torch.ones(3, device=device)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            out = torch.ones(2, 2, device=device)
            torch.add(x, x, out=out)
            torch.add(x, x, out=torch.empty(0, device=device))
        assert_same(out, torch.full((3,), 2.0))
        return [str(warning.message).partition(" (Triggered")[0] for warning in caught]

    torch.set_warn_always(True)
    try:
        ours, theirs = run(device), run("cpu")
    finally:
        torch.set_warn_always(False)
    assert ours == theirs and len(theirs) == 1


def test_out_into_a_view(device) -> None:
    x = torch.zeros(3, 4, device=device)
    torch.add(torch.ones(3, device=device), 1, out=x[:, 2])
    torch.mul(torch.ones(2, 3, device=device), 5, out=x.t()[:2])
    expected = torch.zeros(3, 4)
    expected[:, 2] = 2
    expected[:, :2] = 5
    assert_same(x, expected)


def test_out_dtypes(device) -> None:
    x = torch.ones(2, device=device)
    assert_same(
        torch.add(x, x, out=torch.empty(2, dtype=torch.float64, device=device)),
        torch.full((2,), 2.0, dtype=torch.float64),
    )
    assert_same_error(
        device, lambda d: torch.add(torch.ones(2, device=d), 1, out=torch.empty(2, dtype=torch.int64, device=d))
    )


def test_assignment(device) -> None:
    def run(device: str) -> torch.Tensor:
        x = torch.zeros(4, 5, device=device)
        x[1] = 1
        x[:, 2] = torch.arange(4.0, device=device)
        x[0, 0] = torch.tensor(9)
        x[x > 2] = -1
        x[torch.tensor([0, 3], device=device)] += 0.5
        x[..., -1:] = torch.ones(4, 1, device=device)
        x[1::2, ::2] *= 3
        return x

    assert_same(run(device), run("cpu"))


def test_boolean_and_integer_indexing(device) -> None:
    def run(device: str) -> list[torch.Tensor]:
        x = torch.arange(12.0, device=device).reshape(3, 4)
        rows = torch.tensor([2, 0, -1], device=device)
        return [
            x[rows],
            x[rows, rows],
            x[:, rows],
            x[x > 5],
            x[rows > 0],
            x[None, 1],
            x[rows[:, None], [0, 1]],
            x[[True, False, True]],
        ]

    assert_same(run(device), run("cpu"))


@pytest.mark.skipif(not ON_TPU, reason="about the device's memory")
def test_in_place_chain_takes_one_buffer() -> None:
    x = torch.ones(1 << 20, device=DEVICE)
    x.add_(1)
    torch.tpu.synchronize()
    gc.collect()
    torch.tpu.reset_peak_memory_stats()
    before = torch.tpu.memory_allocated()
    with compiles(at_most=0):
        for _ in range(20):
            x.add_(1)
    torch.tpu.synchronize()
    assert torch.tpu.max_memory_allocated() - before < 4 << 20
    assert x[0].item() == 22


def test_self_referential_lists(device) -> None:
    def run(device: str) -> list[torch.Tensor]:
        x, y = torch.ones(2, device=device), torch.full((3,), 2.0, device=device)
        torch._foreach_add_([x, y], [x, y])
        torch._foreach_mul_([x, y], 2.0)
        torch._foreach_addcmul_([x, y], [x, y], [x, y], value=0.5)
        return [x, y]

    assert_same(run(device), run("cpu"))
