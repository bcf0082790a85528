"""What is checked of one operator in one dtype, on an OpInfo's samples: each compares the device with PyTorch's CPU."""

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from tests.compare import Failure, assert_same, assert_same_outcome, outcome, usual_tolerance
from tests.ops import distribution
from tests.ops.calls import Call, Gradients
from torch.testing._internal.common_device_type import toleranceOverride
from torch.testing._internal.common_utils import noncontiguous_like
from torch.testing._internal.opinfo.core import DecorateInfo, OpInfo, SampleInput
from torch.utils import _pytree as pytree

from ops.open_results import UNWRITTEN, is_random, without_ties

# OpInfo yields hundreds of samples for some operators; those that are compared are spread over the first ones.
FIRST = 60
# How many numbers judge the distribution of a random operator, whose samples are small.
DRAWN = 4096
# PyTorch's test classes that compare an operator's results with references: not those of decompositions, tracers and the like.
_COMPARING = (None, "TestCommon", "TestUnaryUfuncs", "TestBinaryUfuncs", "TestReductions")
# Layouts of their own, which are no business of dense kernels.
OTHER_LAYOUTS = ("sparse.",)
# Operators that want their other tensors on the CPU, on every device.
NUMBERS_ON_CPU = ("tensor_split",)


class Subject:
    """One operator in one dtype, with at most `count` of its samples."""

    def __init__(self, info: OpInfo, dtype: torch.dtype, count: int) -> None:
        self.info, self.dtype, self.count = info, dtype, count
        self.tolerance = _tolerance(info, dtype)

    @functools.cached_property
    def samples(self) -> list[SampleInput]:
        return self._samples(requires_grad=False)

    @functools.cached_property
    def differentiable(self) -> list[SampleInput]:
        return self._samples(requires_grad=True)

    def _samples(self, requires_grad: bool) -> list[SampleInput]:
        torch.manual_seed(0)
        made = self.info.sample_inputs("cpu", self.dtype, requires_grad=requires_grad)
        found = list(itertools.islice(made, FIRST))
        step = max(len(found) / self.count, 1)
        return [found[int(index * step)] for index in range(min(self.count, len(found)))]

    def compare(
        self,
        call: Call,
        change: Callable[[torch.Tensor], torch.Tensor] = lambda tensor: tensor,
        process: Callable[[Any], Any] = lambda result: result,
    ) -> None:
        """The call, with `change` applied to its tensors on either device, gives the same, or raises the same.

        `process` leaves of a result what is determined.
        """
        ours, theirs = (side.map(change) for side in self._both(call))
        if self.info.name in UNWRITTEN or not isinstance(outcome(call.to("cpu")), Failure) and is_random(call):
            self._compare_draws(ours, theirs)
            return
        expected, result = outcome(theirs), outcome(ours)
        try:
            assert_same_outcome(lambda: result, lambda: expected, strides=False, **self.tolerance)
        except AssertionError:
            if isinstance(expected, Failure) or isinstance(result, Failure):
                raise
            sides = [without_ties(self.info.name, theirs, process(side)) for side in (result, expected)]
            assert_same(*sides, strides=False, **self.tolerance)

    def _both(self, call: Call) -> tuple[Call, Call]:
        ours, theirs = call.both()
        if self.info.name in NUMBERS_ON_CPU:
            ours = Call(ours.op, (ours.args[0], *theirs.args[1:]), ours.kwargs)
        return ours, theirs

    def _compare_draws(self, ours: Call, theirs: Call) -> None:
        """Metadata, and the distribution of many draws."""
        once = [pytree.tree_map_only(torch.Tensor, torch.zeros_like, side()) for side in (ours, theirs)]
        assert_same(*once, strides=False)
        if self.info.name not in UNWRITTEN and any(leaf.numel() for leaf in tensors(once[1])):
            distribution.assert_alike(*(_draws(side) for side in (ours, theirs)))


def _tolerance(info: OpInfo, dtype: torch.dtype) -> dict[str, float]:
    """The widest that the OpInfo gives those of its tests that compare results; without one, that of its dtype."""
    found: list[Any] = []
    for decorator in info.decorators:
        if not isinstance(decorator, DecorateInfo):
            found.append(decorator)
        elif decorator.device_type in (None, "cpu") and decorator.cls_name in _COMPARING:
            found += decorator.decorators
    given = [each.d[dtype] for each in found if isinstance(each, toleranceOverride) and dtype in each.d]
    if not given:
        return {}
    usual = usual_tolerance(dtype)
    return {name: max(usual[name], *(getattr(each, name) for each in given)) for name in usual}


def tensors(result: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]


def _draws(call: Call) -> torch.Tensor:
    """The numbers of many calls, copied: calls in place draw again into what they wrote."""
    drawn: list[torch.Tensor] = []
    while sum(leaf.numel() for leaf in drawn) < DRAWN:
        drawn += [leaf.detach().to("cpu", copy=True).flatten() for leaf in tensors(call())]
    numbers = torch.cat([leaf.to(torch.promote_types(leaf.dtype, torch.float64)) for leaf in drawn])
    return torch.view_as_real(numbers).flatten() if numbers.is_complex() else numbers


def _call(op: Callable, sample: SampleInput) -> Call:
    return Call(op, (sample.input, *sample.args), sample.kwargs)


def forward(subject: Subject) -> None:
    for sample in subject.samples:
        subject.compare(_call(subject.info.op, sample), process=sample.output_process_fn_grad)


def strided(subject: Subject) -> None:
    """Every tensor is what remains of a larger one."""
    for sample in subject.samples:
        subject.compare(_call(subject.info.op, sample), noncontiguous_like, sample.output_process_fn_grad)


def inplace(subject: Subject) -> None:
    """The result, which is the first argument, and stays where it was in memory."""
    for sample in subject.samples:
        if not sample.broadcasts_input:
            subject.compare(_call(_staying(subject.info.get_inplace()), sample))


def _staying(op: Callable) -> Callable:
    def write(first: Any, *args: Any, **kwargs: Any) -> Any:
        before = [tensor.data_ptr() for tensor in tensors(first)]
        result = op(first, *args, **kwargs)
        assert before == [tensor.data_ptr() for tensor in tensors(first)], "an in-place write moved a tensor"
        return result if result is not None else first  # None, for lists

    return write


def out(subject: Subject) -> None:
    """Into tensors that fit, and into empty ones, which grow."""
    for sample in subject.samples:
        call = _call(subject.info.op, sample)
        expected = outcome(call.to("cpu"))
        for make in (torch.zeros_like, lambda tensor: tensor.new_empty(0)):
            if not isinstance(expected, Failure):
                writing = Call(_writing(subject.info.op, make, expected), call.args, call.kwargs)
                subject.compare(writing, process=sample.output_process_fn_grad)


def _writing(op: Callable, make: Callable[[torch.Tensor], torch.Tensor], like: Any) -> Callable:
    """`op` with an out= that `make` makes of each of the results `like`, on the device of the arguments."""

    def write(*args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device") or next(tensor.device for tensor in tensors((args, kwargs)))
        outs = pytree.tree_map_only(torch.Tensor, lambda tensor: make(tensor).to(device), like)
        outs = outs if isinstance(outs, torch.Tensor) else tuple(outs)
        returned = op(*args, **kwargs, out=outs)
        assert all(left is right for left, right in zip(tensors(returned), tensors(outs))), "out= is not returned"
        return returned

    return write


def backward(subject: Subject, twice: bool = False) -> None:
    for sample in subject.differentiable:
        call = _call(subject.info.op, sample)
        wrt = tuple(index for index, tensor in enumerate(call.tensors()) if tensor.requires_grad)
        process = _determined(subject, call.map(torch.Tensor.detach), sample)
        if process:
            processed = Call(lambda *args, **kwargs: process(subject.info.op(*args, **kwargs)), call.args, call.kwargs)
            subject.compare(Call(Gradients(processed.op, wrt, twice), processed.args, processed.kwargs))


def _determined(subject: Subject, call: Call, sample: SampleInput) -> Callable[[Any], Any] | None:
    """What makes a determined result of the call's, to be differentiated; None if equal elements decide gradients."""
    ours, theirs = (outcome(side) for side in call.both())
    if isinstance(theirs, Failure) or without_ties(subject.info.name, call.to("cpu"), theirs) is theirs:
        return sample.output_process_fn_grad
    same = all(torch.equal(left.cpu(), right) for left, right in zip(tensors(ours), tensors(theirs), strict=True))
    return sample.output_process_fn_grad if same else None


CHECKS: dict[str, Callable[[Subject], None]] = {
    "forward": forward,
    "backward": backward,
    "twice": functools.partial(backward, twice=True),
    "inplace": inplace,
    "out": out,
    "strided": strided,
}


def applicable(info: OpInfo, dtype: torch.dtype) -> list[str]:
    """The names of CHECKS that make sense on PyTorch's CPU."""
    if dtype not in info.supported_dtypes("cpu") or info.name.startswith(OTHER_LAYOUTS):
        return []
    differentiable = info.supports_autograd and dtype in info.supported_backward_dtypes("cpu")
    return [
        "forward",
        *(["backward"] if differentiable else []),
        *(["twice"] if differentiable and info.supports_gradgrad else []),
        *(["inplace"] if info.get_inplace() is not None else []),
        *(["out"] if info.supports_out and not isinstance(info.op, torch._ops.OpOverloadPacket) else []),
        "strided",
    ]


def error_calls(info: OpInfo) -> Iterator[tuple[Call, Call]]:
    """The OpInfo's wrong inputs that the CPU refuses, on the device and on the CPU."""
    torch.manual_seed(0)
    for error in info.error_inputs("cpu"):
        call = _call(info.op, error.sample_input)
        if all(tensor.layout == torch.strided and not tensor.is_meta for tensor in call.tensors()):
            if isinstance(outcome(call.to("cpu")), Failure):
                yield call.both()


def same_error(ours: Call, theirs: Call) -> None:
    """Both raise the same exception with the same message."""
    expected, result = outcome(theirs), outcome(ours)
    assert result == expected, f"{result!r:.250} instead of {expected!r:.250}"
