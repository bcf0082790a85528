"""No program of views, writes, resizes and copies differs from the CPU's: random ones, and those that once did."""

import os

import torch
from hypothesis import settings

from tests.compare import assert_same, assert_same_error, assert_same_outcome
from tests.semantics.programs import Programs

# Of 25 steps each: 5,000 steps that are always the same, or with --slow 100,000 new ones.
_SLOW = os.environ.get("TORCHTPU_TEST_SLOW") == "1"

TestPrograms = Programs.TestCase
TestPrograms.settings = settings(
    max_examples=4000 if _SLOW else 200,
    stateful_step_count=25,
    derandomize=not _SLOW,
    deadline=None,
    print_blob=True,
)


def test_a_list_that_names_a_tensor_twice(device) -> None:
    """PyTorch goes through the list in order: the second time it finds what the first time wrote."""

    def run(device: str) -> list:
        x, y = torch.zeros(3, device=device), torch.ones(4, device=device)
        torch._foreach_add_([x, y, x], 1)
        torch._foreach_mul_([y[:3], y[1:]], 2)
        return [x, y, x._version, y._version]

    assert_same(run(device), run("cpu"))


def test_lists_of_slices_of_one_buffer(device) -> None:
    """As parameters in one flat buffer: they do not meet."""

    def run(device: str) -> torch.Tensor:
        flat = torch.arange(6.0, device=device)
        torch._foreach_add_([flat[:2].view(2, 1), flat[2:6].view(2, 2)], [flat.clone()[:2].view(2, 1), flat.clone()[2:].view(2, 2)])
        return flat

    assert_same(run(device), run("cpu"))


def test_a_vector_of_nothing_first_in_a_list(device) -> None:
    for dim in (0, 1, -1):
        pieces = [torch.empty(0), torch.ones(2, 3), torch.empty(0)]
        assert_same(torch.cat([piece.to(device) for piece in pieces], dim), torch.cat(pieces, dim))


def test_copies_of_nothing_have_to_fit(device) -> None:
    assert_same_error(device, lambda d: torch.empty(2, 0, device=d).copy_(torch.empty(0, 2, 2, device=d)))
    assert_same_error(device, lambda d: torch.empty(0, device=d).copy_(torch.empty(2, 0, device=d)))


def test_an_out_that_is_an_operand_is_not_resized(device) -> None:
    """The same tensor is not; another one over the same memory is."""
    x = torch.ones(1, 3)

    def same(device: str) -> torch.Tensor:
        out = x.to(device)
        return torch.add(out, torch.ones(2, 3, device=device), out=out)

    def alias(device: str) -> torch.Size:  # what the CPU writes depends on the order in which it reads and writes
        operand = x.to(device)
        out = torch.empty(0, device=device).set_(operand)
        return torch.add(operand, torch.ones(2, 3, device=device), out=out).shape

    assert_same_error(device, same)
    assert_same_outcome(lambda: alias(device), lambda: alias("cpu"))


def test_an_out_of_another_dtype_is_what_sums_are_made_in(device) -> None:
    def run(device: str) -> list[torch.Tensor]:
        x = torch.tensor([[1, -1], [300, 2]], device=device)
        dtypes = (torch.bool, torch.uint8, torch.float32)
        return [torch.sum(x, 0, out=torch.empty(0, dtype=dtype, device=device)) for dtype in dtypes]

    assert_same(run(device), run("cpu"))


def test_nonzero_is_laid_out_as_on_the_cpu(device) -> None:
    def strides(device: str) -> tuple:
        return torch.eye(3, device=device).nonzero().stride(), torch.tensor([1, 0, 1], device=device).nonzero().stride()

    assert strides(device) == strides("cpu")


def test_counting_fills_an_out_of_any_shape(device) -> None:
    def run(device: str) -> list[torch.Tensor]:
        columns = torch.zeros(2, 3, device=device).t()
        return [torch.arange(6, out=columns), torch.linspace(0, 1, 3, out=torch.zeros(1, 3, device=device))]

    assert_same(run(device), run("cpu"))


def test_a_storage_that_grew_by_half_an_element(device) -> None:
    def run(device: str) -> torch.Tensor:
        parts = torch.zeros(0, dtype=torch.complex64, device=device)
        torch.arange(3, out=parts.real)
        return parts.abs_()

    assert_same_error(device, run)


def test_batches_of_two_dtypes_with_nothing_to_multiply(device) -> None:
    def run(device: str) -> list[torch.Tensor]:
        results = []
        for first, second in ((torch.float32, torch.int64), (torch.bool, torch.int64), (torch.int64, torch.float32)):
            rows, none = (torch.ones(2, 3, n, dtype=first, device=device) for n in (2, 0))
            results.append(torch.bmm(rows, torch.ones(2, 2, 0, dtype=second, device=device)))
            results.append(torch.bmm(none, torch.ones(2, 0, 3, dtype=second, device=device)))
        none = torch.ones(2, 3, 0, device=device), torch.ones(2, 0, 3, dtype=torch.int64, device=device)
        return [*results, torch.baddbmm(torch.ones(2, 3, 3, device=device), *none)]

    assert_same(run(device), run("cpu"))
