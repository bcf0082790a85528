"""Chains of views, read and written through any alias, against the same program on the CPU."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compare import Failure, assert_same, outcome
from tests.device import DEVICE, compiles
from tests.runtime.views import SHAPES, View, draw_view

_WRITES = (
    lambda t: t.add_(1),
    lambda t: t.mul_(2),
    lambda t: t.fill_(3),
    lambda t: t.zero_(),
    lambda t: t.copy_(t.clone() * 2),
)


def _base(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.arange(1, 1 + torch.Size(shape).numel()).reshape(shape).to(dtype)


def _is_left_open(tensor: torch.Tensor) -> bool:
    """Whether correct devices may write different values: where two elements are one, or a number is subnormal.

    XLA computes with subnormal numbers as with zero.
    """
    addresses = torch.zeros((), dtype=torch.int64)
    for size, stride in zip(tensor.shape, tensor.stride()):
        addresses = addresses.unsqueeze(-1) + torch.arange(size) * stride
    overlaps = addresses.unique().numel() < addresses.numel()
    return overlaps or (tensor.is_floating_point() and bool(((tensor != 0) & (tensor.abs() < 1e-37)).any()))


class _Pair:
    """The same aliases on the CPU and on the device."""

    def __init__(self, base: torch.Tensor):
        self.theirs, self.ours = [base.clone()], [base.to(DEVICE, copy=True)]

    def view(self, view: View, index: int) -> None:
        """Adds a view of the alias `index`, unless the CPU refuses it: then the device must refuse it as well."""
        theirs, ours = outcome(lambda: view(self.theirs[index])), outcome(lambda: view(self.ours[index]))
        if isinstance(theirs, Failure) or isinstance(ours, Failure):
            assert ours == theirs
            return
        self.theirs.append(theirs)
        self.ours.append(ours)

    def write(self, write, index: int) -> None:
        if _is_left_open(self.theirs[index]):
            return
        theirs, ours = outcome(lambda: write(self.theirs[index])), outcome(lambda: write(self.ours[index]))
        if isinstance(theirs, Failure) or isinstance(ours, Failure):
            assert ours == theirs

    def compare(self) -> None:
        for ours, theirs in zip(self.ours, self.theirs):
            assert ours.storage_offset() == theirs.storage_offset()
            assert ours._is_view() == theirs._is_view()
            assert_same(ours, theirs, rtol=0, atol=0)


@settings(max_examples=75, deadline=None, derandomize=True)
@given(st.data())
def test_chain(data) -> None:
    shape = data.draw(st.sampled_from(SHAPES))
    dtype = data.draw(st.sampled_from([torch.float32, torch.int64, torch.bool, torch.complex64, torch.complex32]))
    pair = _Pair(_base(shape, dtype))
    for _ in range(data.draw(st.integers(1, 4))):
        index = data.draw(st.integers(0, len(pair.theirs) - 1))
        pair.view(draw_view(data.draw, pair.theirs[index]), index)
    pair.compare()
    for _ in range(2):
        pair.write(data.draw(st.sampled_from(_WRITES)), data.draw(st.integers(0, len(pair.theirs) - 1)))
    pair.compare()


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.data())
def test_views_as_operands(data) -> None:
    """A program reads two views at once, of one base or of two."""
    base = _base(data.draw(st.sampled_from([(4, 6), (2, 3, 4)])), torch.float32)
    pair = _Pair(base)
    for _ in range(2):
        pair.view(draw_view(data.draw, base), 0)
    for sides in (pair.ours, pair.theirs):
        sides.append(outcome(lambda: sides[-1] * 2 + sides[-2]))
    if isinstance(pair.theirs[-1], Failure):
        assert pair.ours[-1] == pair.theirs[-1]
    else:
        assert_same(pair.ours[-1], pair.theirs[-1])


def test_position_is_not_in_the_program(device) -> None:
    x = torch.arange(12.0).reshape(4, 3).to(device)
    (x[0] * 2, x[0:2] + 1)
    with compiles(at_most=0):
        rows = [x[index] * 2 for index in range(4)]
        windows = [x[start : start + 2] + 1 for start in range(3)]
    expected = torch.arange(12.0).reshape(4, 3)
    assert_same(rows, [expected[index] * 2 for index in range(4)])
    assert_same(windows, [expected[start : start + 2] + 1 for start in range(3)])


def test_position_of_a_write_is_not_in_the_program(device) -> None:
    x = torch.zeros(4, 3, device=device)
    x[0].add_(1)
    with compiles(at_most=0):
        for index in range(1, 4):
            x[index].add_(1)
    assert_same(x, torch.ones(4, 3))


def test_a_window_across_rows_is_another_class(device) -> None:
    """[5:8] lies in one row of the 8x8 base, [6:9] in two: clamping the second to the first's form would be wrong."""
    x, y = torch.arange(64.0).reshape(8, 8).to(device), torch.arange(64.0).reshape(8, 8)
    for window in (slice(5, 8), slice(6, 9), slice(61, 64), slice(0, 3), slice(7, 10)):
        assert_same(x.view(-1)[window] * 1, y.view(-1)[window] * 1)
        x.view(-1)[window] += 1
        y.view(-1)[window] += 1
        assert_same(x, y)


def test_written_base_is_seen_by_older_views(device) -> None:
    x = torch.zeros(2, 3, device=device)
    row, column, flat = x[1], x[:, 1], x.view(-1)
    x.add_(1)
    flat[4] = 5
    expected = torch.tensor([[1.0, 1, 1], [1, 5, 1]])
    assert_same((x, row, column, flat), (expected, expected[1], expected[:, 1], expected.view(-1)))


def test_copy_between_overlapping_views(device) -> None:
    def shift(device: str) -> torch.Tensor:
        x = torch.arange(6.0, device=device)
        x[1:].copy_(x[:-1].clone())
        return x

    assert_same(shift(device), shift("cpu"))


@pytest.mark.parametrize("dtype", (torch.complex32, torch.complex64), ids=str)
def test_conj_and_neg_views(device, dtype) -> None:
    def run(device: str) -> list[torch.Tensor]:
        z = torch.tensor([1 + 2j, 3 - 4j]).to(device, dtype)
        return [z.conj() * z, z.conj().imag + 1, z.conj().resolve_conj(), z.conj().imag.resolve_neg(), z.real + z.imag]

    assert_same(run(device), run("cpu"))


def test_empty_views(device) -> None:
    x = torch.arange(6.0).reshape(2, 3).to(device)
    assert_same(x[2:], torch.empty(0, 3))
    assert_same(x[:, 3:] + 1, torch.empty(2, 0), strides=False)
    x[2:].add_(1)
    assert_same(x, torch.arange(6.0).reshape(2, 3))
