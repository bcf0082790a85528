"""Random programs on aliased tensors, run on the CPU and on the device, step by step: what a hypothesis state machine draws.

Every step is one call. Both devices return alike or raise alike, and afterwards every tensor of the program is alike: values,
sizes, strides, offset, version, whether it is a view, and which others it shares memory with.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tests.compare import Failure, assert_same, outcome
from tests.device import DEVICE
from tests.runtime.views import draw_view

# Small pools, so that programs repeat.
SHAPES = ((), (1,), (6,), (0,), (2, 3), (3, 2), (1, 4), (4, 4), (2, 0), (2, 3, 4), (3, 1, 2), (2, 2, 3, 2))
DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64)
MOST_TENSORS = 6

shapes, dtypes = st.sampled_from(SHAPES), st.sampled_from(DTYPES)


@dataclass
class Pair:
    """The same tensor on both devices."""

    theirs: torch.Tensor
    ours: torch.Tensor


def is_left_open(tensor: torch.Tensor) -> bool:
    """Whether correct devices may write different values: where two elements share memory, or a number is subnormal.

    XLA computes with subnormal numbers as with zero.
    """
    addresses = torch.zeros((), dtype=torch.int64)
    for size, stride in zip(tensor.shape, tensor.stride()):
        addresses = addresses.unsqueeze(-1) + torch.arange(size) * stride
    return addresses.unique().numel() < addresses.numel() or _has_subnormals(tensor)


def _has_subnormals(tensor: torch.Tensor) -> bool:
    if tensor.is_complex():
        return _has_subnormals(torch.view_as_real(tensor.resolve_conj()))
    return tensor.is_floating_point() and bool(((tensor != 0) & (tensor.abs() < 1e-37)).any())


def values(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Small whole numbers, which every dtype holds and every sum of a few is exact in."""
    numbers = torch.arange(torch.Size(shape).numel()).reshape(shape)
    return (numbers % 5 - 2).to(dtype)


_UNARY = {
    "add": lambda t: t.add_(1),
    "mul": lambda t: t.mul_(2),
    "neg": lambda t: t.neg_(),
    "zero": lambda t: t.zero_(),
    "fill": lambda t: t.fill_(3),
    "clamp": lambda t: t.clamp_(-1, 1),
    "abs": lambda t: t.abs_(),
    "masked_fill": lambda t: t.masked_fill_(t == 1, 4),
    "set_item": lambda t: t.__setitem__(0, 2),
    "set_ellipsis": lambda t: t.__setitem__(Ellipsis, 1),
}
_BINARY = {
    "add": lambda t, u: t.add_(u),
    "mul": lambda t, u: t.mul_(u),
    "copy": lambda t, u: t.copy_(u),
    "where": lambda t, u: t.copy_(torch.where(u == 1, t, u)),
    "swapped": lambda t, u: t.sub_(u, alpha=2),
    "foreach": lambda t, u: torch._foreach_add_([t, u], 1),
}
_MAKE = {
    "clone": lambda t: t.clone(),
    "contiguous": lambda t: t.contiguous(),
    "double": lambda t: t + t,
    "negated": lambda t: -t,
    "sum": lambda t: t.sum(),
    "sum_dim": lambda t: t.sum(0),
    "equal_one": lambda t: t == 1,
    "as_int": lambda t: t.to(torch.int64),
    "as_float": lambda t: t.to(torch.float32),
    "reshape": lambda t: t.reshape(-1),
    "flip": lambda t: t.flip(0),
    "stack": lambda t: torch.stack([t, t]),
    "empty_like": lambda t: torch.zeros_like(t),
    "new": lambda t: t.new_ones(t.shape),
    "nonzero": lambda t: t.nonzero(),
    "masked": lambda t: t[t == 1],
    "row": lambda t: t[torch.zeros(2, dtype=torch.int64, device=t.device)],
}
_COMBINE = {
    "add": lambda t, u: t + u,
    "mul": lambda t, u: t * u,
    "cat": lambda t, u: torch.cat([t, u]),
    "matmul": lambda t, u: t @ u,
    "maximum": lambda t, u: torch.maximum(t, u),
    "where": lambda t, u: torch.where(t == u, t, u),
}
_OUT = {
    "add": lambda t, u, o: torch.add(t, u, out=o),
    "mul": lambda t, u, o: torch.mul(t, u, out=o),
    "cat": lambda t, u, o: torch.cat([t, u], out=o),
    "eq": lambda t, u, o: torch.eq(t, u, out=o),
    "sum": lambda t, u, o: torch.sum(t, 0, out=o) if t.ndim else torch.neg(t, out=o),
    "arange": lambda t, u, o: torch.arange(3, out=o),
}
# In-place changes of metadata, and other ways to the same memory.
_RESHAPE = {
    "t": lambda t: t.t_(),
    "squeeze": lambda t: t.squeeze_(),
    "unsqueeze": lambda t: t.unsqueeze_(0),
    "transpose": lambda t: t.transpose_(0, -1),
    "detach": lambda t: t.detach_(),
    "as_strided": lambda t: t.as_strided_((2,), (1,)),
    "resize_same": lambda t: t.resize_(t.shape),
    "resize_flat": lambda t: t.resize_(t.numel()),
    "resize_small": lambda t: t.resize_(2),
    "resize_large": lambda t: t.resize_(2, 9),
    "set_empty": lambda t: t.set_(),
}
_ALIAS = {
    "data": lambda t: t.data,
    "detach": lambda t: t.detach(),
    "alias": lambda t: t.view_as(t),
    "conj": lambda t: t.conj(),
    "real": lambda t: t.real,
    "imag": lambda t: t.imag,
    "real_parts": lambda t: torch.view_as_real(t),
    "split": lambda t: t.split(1)[-1],
    "unbind": lambda t: t.unbind()[0],
    "last": lambda t: t[..., -1],
    "every_other": lambda t: t[::2],
    "expand": lambda t: t.expand(2, *t.shape),
}


def _are_entangled(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether writing one element may change another that is yet to be read: the CPU's result depends on its order then."""
    if first.untyped_storage()._cdata != second.untyped_storage()._cdata or _place(first) == _place(second):
        return False
    (begin, end), (other_begin, other_end) = _bytes(first), _bytes(second)
    return begin < other_end and other_begin < end


def _grows_over_operands(body, first: Pair, second: Pair, out: Pair) -> bool:
    """Whether an out= in an operand's memory gets another size, and so writes what is yet to be read."""
    storages = [pair.theirs.untyped_storage()._cdata for pair in (first, second, out)]
    copies = [pair.theirs.detach().clone() for pair in (first, second, out)]
    outcome(lambda: body(*copies))
    return storages[2] in storages[:2] and copies[2].shape != out.theirs.shape


def _place(tensor: torch.Tensor) -> tuple:
    return tensor.dtype, tensor.shape, tensor.stride(), tensor.storage_offset()


def _bytes(tensor: torch.Tensor) -> tuple[int, int]:
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    begin = tensor.storage_offset()
    return begin * tensor.itemsize, (begin + last + 1) * tensor.itemsize if tensor.numel() else begin * tensor.itemsize


def _initialize(pair: Pair) -> None:
    """Gives a storage that has grown, and whose new part has no values, the same ones on both sides."""
    for tensor in (pair.theirs, pair.ours):
        size = pair.theirs.untyped_storage().nbytes() // tensor.element_size()
        whole = torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(tensor.untyped_storage(), 0, (size,))
        whole.copy_(values((size,), tensor.dtype))


def _differentiate(write: Callable[[torch.Tensor], Any], view: Callable[[torch.Tensor], torch.Tensor], t: torch.Tensor) -> Any:
    """The gradient through a view that is written: autograd's own tracking of views and versions."""
    leaf = t.detach().clone().requires_grad_()
    result = leaf * 2
    write(view(result))
    (result * result).sum().abs().backward()
    return leaf.grad.clone()  # how often the engine wrote to a gradient is its own affair


class Programs(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.pairs: list[Pair] = []
        self._alike = True

    # Rules.

    @rule(shape=shapes, dtype=dtypes, data=st.data())
    def create(self, shape, dtype, data) -> None:
        made = values(shape, dtype)
        if len(self.pairs) == MOST_TENSORS:
            self.pairs.pop(data.draw(st.integers(0, MOST_TENSORS - 1), label="forgotten"))
        self.pairs.append(Pair(made.clone(), made.to(DEVICE, copy=True)))

    @precondition(lambda self: self.pairs)
    @rule(data=st.data())
    def view(self, data) -> None:
        pair = self._draw(data)
        self._make(draw_view(data.draw, pair.theirs, bits=False), pair)  # of zeros, the sign is left open

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), name=st.sampled_from(sorted(_ALIAS)))
    def alias(self, data, name) -> None:
        self._make(_ALIAS[name], self._draw(data))

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), name=st.sampled_from(sorted(_UNARY)))
    def write(self, data, name) -> None:
        pair = self._draw(data)
        if not is_left_open(pair.theirs):
            self._do(_UNARY[name], pair)

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), name=st.sampled_from(sorted(_BINARY)))
    def write_from(self, data, name) -> None:
        pair, other = self._draw(data), self._draw(data)
        open_ = is_left_open(pair.theirs) or is_left_open(other.theirs) or _are_entangled(pair.theirs, other.theirs)
        if not open_:
            self._do(_BINARY[name], pair, other)

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), name=st.sampled_from(sorted(_OUT)))
    def out(self, data, name) -> None:
        first, second, out = self._draw(data), self._draw(data), self._draw(data)
        entangled = any(_are_entangled(pair.theirs, out.theirs) for pair in (first, second))
        reduces_itself = name == "sum" and first.theirs.untyped_storage()._cdata == out.theirs.untyped_storage()._cdata
        if not (is_left_open(out.theirs) or entangled or reduces_itself or _grows_over_operands(_OUT[name], first, second, out)):
            self._do(_OUT[name], first, second, out)

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), name=st.sampled_from(sorted(_MAKE)))
    def make(self, data, name) -> None:
        self._make(_MAKE[name], self._draw(data))

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), name=st.sampled_from(sorted(_COMBINE)))
    def combine(self, data, name) -> None:
        self._make(_COMBINE[name], self._draw(data), self._draw(data))

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), name=st.sampled_from(sorted(_RESHAPE)))
    def reshape(self, data, name) -> None:
        self._do(_RESHAPE[name], self._draw(data))

    @precondition(lambda self: self.pairs)
    @rule(data=st.data())
    def set_(self, data) -> None:
        self._do(lambda t, u: t.set_(u), self._draw(data), self._draw(data))

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), name=st.sampled_from(("add", "mul", "fill", "zero", "clamp", "set_ellipsis")))
    def differentiate(self, data, name) -> None:
        pair = self._draw(data)
        if pair.theirs.dtype != torch.float32 or is_left_open(pair.theirs):
            return
        view = draw_view(data.draw, pair.theirs.detach().clone(), bits=False)
        if is_left_open(view(pair.theirs.detach().clone())):
            return
        self._make(lambda t: _differentiate(_UNARY[name], view, t), pair)

    # What they are made of.

    def _draw(self, data) -> Pair:
        return self.pairs[data.draw(st.integers(0, len(self.pairs) - 1), label="tensor")]

    def _do(self, body, *pairs: Pair) -> bool:
        """Runs a call for its effect; false if both devices refuse it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = [pair.theirs.untyped_storage().nbytes() for pair in pairs]
            theirs = outcome(lambda: body(*(pair.theirs for pair in pairs)))
            ours = outcome(lambda: body(*(pair.ours for pair in pairs)))
            for size, pair in zip(before, pairs):
                if pair.theirs.untyped_storage().nbytes() > size:
                    _initialize(pair)
        if self._check_failures(ours, theirs):
            # How far a call came before it raised (whether an out= is resized, which of a list is done) is nobody's promise.
            touched = {pair.theirs.untyped_storage()._cdata for pair in pairs}
            self.pairs = [pair for pair in self.pairs if pair.theirs.untyped_storage()._cdata not in touched]
        else:
            self._compare(*pairs)
        return not isinstance(theirs, Failure)

    def _make(self, body, *pairs: Pair) -> None:
        """Runs a call for its result, which joins the program."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = outcome(lambda: body(*(pair.theirs for pair in pairs)))
            ours = outcome(lambda: body(*(pair.ours for pair in pairs)))
        if self._check_failures(ours, theirs):
            return
        if len(self.pairs) == MOST_TENSORS:
            self.pairs.pop(0)
        self.pairs.append(Pair(theirs, ours))
        self._compare(self.pairs[-1])

    def _check_failures(self, ours: Any, theirs: Any) -> bool:
        """Whether the call raised, on both devices alike."""
        failed = isinstance(theirs, Failure) or isinstance(ours, Failure)
        self._alike = not failed or ours == theirs
        assert self._alike, f"{ours} instead of {theirs}"
        return failed

    def _compare(self, *touched: Pair) -> None:
        self._alike = False
        for index, pair in enumerate(self.pairs):
            ours, theirs = (self._facts(pair, side) for side in ("ours", "theirs"))
            different = {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]}
            assert not different, f"tensor {index}: {different} (ours, the CPU's)"
        for pair in touched:
            assert_same(pair.ours, pair.theirs, strides=False, rtol=1e-6, atol=1e-6)
        self._alike = True

    def _facts(self, pair: Pair, side: str) -> dict[str, Any]:
        tensor = getattr(pair, side)
        storage = tensor.untyped_storage()._cdata
        return {
            "shape": tuple(tensor.shape),
            "dtype": tensor.dtype,
            # A stride over one element or none leads nowhere.
            "strides": tensor.numel() and [step for size, step in zip(tensor.shape, tensor.stride()) if size > 1],
            "offset": tensor.numel() and tensor.storage_offset(),
            "version": tensor._version,
            "is a view": tensor._is_view(),
            "bits": (tensor.is_conj(), tensor.is_neg()),
            "shares with": [getattr(other, side).untyped_storage()._cdata == storage for other in self.pairs],
        }

    def teardown(self) -> None:
        for pair in self.pairs if self._alike else ():
            assert_same(pair.ours, pair.theirs, strides=False, rtol=1e-6, atol=1e-6)
