"""OpTest: what the generated tests of one entry of ops.yaml do. Each compares the device with PyTorch's CPU.

A generated class only states facts (`entry`, `overloads`, ...). The tests that do not apply to it are removed when the
class is made, so that nothing is shown as skipped, and a test that finds nothing to compare fails.
"""

import functools
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

from tests.compare import Failure, assert_same, assert_same_outcome, outcome, usual_tolerance
from tests.device import DEVICE, ON_TPU, compiles, no_fallback
from tests.ops import check_samples, distribution, edges, invariants, kernels, samples, sources
from tests.ops.calls import Call, overload, rebind, spread
from tests.ops.compiled import compiled_entries, computed_in_64_bits, watch
from tests.ops.keys import key

# How many calls are compared for each dtype: every one may cost a compilation.
CALLS = {"float32": 5, "bfloat16": 2, "int64": 2, "bool": 2, "complex64": 2}
_ERRORS = 8
_SHORT = {"float32": "f32", "float64": "f64", "bfloat16": "bf16", "float16": "f16", "int64": "i64", "complex64": "c64"}


class OpTest:
    """The tests of one entry. Everything below is overridden by generated classes."""

    entry: str
    aten: str
    overloads: tuple[str, ...] = ()
    opinfo: tuple[str, ...] = ()
    samples: str | None = None
    dtypes: tuple[str, ...] | None = None
    tol: dict[str, dict[str, float] | float] = {}
    xfail: dict[str, str] = {}
    check: str = "values"
    pallas: bool = False
    checks: tuple[str, ...] = ()
    numbers: dict[str, tuple[float, ...]] = {}
    sizes: dict[str, str] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.infos = () if cls.samples else tuple(sources.opinfos(cls.entry, cls.opinfo))
        cls.functional = sources.functional(cls.entry, cls.overloads)
        cls.differentiated = sources.differentiated(cls.functional)
        cls.errors = sources.errors(cls.infos, cls.entry, cls.overloads)
        for test in set(_TESTS) - set(cls._applicable()):
            setattr(cls, test, None)

    @classmethod
    def _applicable(cls) -> list[str]:
        checks = ["test_checks"] if cls.checks else []
        if cls.check == "distribution":
            return ["test_distribution", "test_calls_differ", "test_seed_repeats", *checks]
        takes_tensors = any("Tensor" in str(argument.type) for argument in overload(cls.entry)._schema.arguments)
        # PyTorch's CPU has no kernel to compare a call of the overload itself with.
        on_cpu = "overrideable" not in cls.entry and not samples.functions(cls.entry, torch.float32)
        return [
            "test_values",
            "test_second_call_hits",
            "test_lowering_ran",
            *(["test_noncontiguous"] if takes_tensors else []),
            *(["test_zero_size"] if takes_tensors and not cls._trusts_sizes() else []),
            *(["test_edges"] if takes_tensors and edges.apply_to(cls.functional) else []),
            *(["test_out"] if on_cpu and sources.out_overloads(cls.overloads) else []),
            *(["test_inplace"] if on_cpu and sources.inplace_overloads(cls.overloads) else []),
            *(["test_backward"] if cls.differentiated else []),
            *(["test_errors"] if cls.errors else []),
            *(["test_narrow"] if "float32" in cls._dtypes() else []),
            *(["test_kernel"] if cls.pallas else []),
            *checks,
        ]

    @classmethod
    def _trusts_sizes(cls) -> bool:
        """Whether the CPU's kernel reads what it has checked elsewhere: in the forward, or in the op that it helps."""
        return "backward" in cls.entry or cls.entry.endswith("_helper") or cls.entry in samples.CRASH_WITHOUT_ROWS

    def pytest_generate_tests(self, metafunc) -> None:
        """One test per dtype where that matters. An xfail names a test ("out"), a dtype ("bf16") or "values/bf16"."""
        test = metafunc.function.__name__.removeprefix("test_")
        if "dtype" not in metafunc.fixturenames:
            return
        parameters = []
        for name in self._gradient_dtypes() if test == "backward" else self._dtypes():
            if test == "edges" and name not in edges.NUMBERS:
                continue
            marks: list[Any] = []
            self._expect_failure(
                marks.append, test, name, f"{test}/{name}", _SHORT.get(name), f"{test}/{_SHORT.get(name)}"
            )
            parameters.append(pytest.param(getattr(torch, name), id=name, marks=marks))
        metafunc.parametrize("dtype", parameters)

    @pytest.fixture(autouse=True)
    def _watched(self) -> None:
        watch(self.entry)

    @pytest.fixture(autouse=True)
    def _expected_failure(self, request) -> None:
        """What pytest_generate_tests does for tests of one dtype, for the others."""
        if "dtype" not in request.fixturenames:
            self._expect_failure(request.applymarker, request.function.__name__.removeprefix("test_"))

    def _expect_failure(self, mark, *names: str | None) -> None:
        for reason in [self.xfail[name] for name in names if name in self.xfail][:1]:
            mark(pytest.mark.xfail(reason=reason, strict=True))

    @classmethod
    @functools.cache
    def _dtypes(cls) -> list[str]:
        """Those of CALLS that the CPU takes and the entry does not exclude; if there are none, another one."""
        if not cls.infos or samples.functions(cls.entry, torch.float32):
            known = {dtype for dtype in (torch.float32, torch.bfloat16, torch.int64) if cls._all_calls(dtype)}
        elif "backward" in cls.entry:
            known = set().union(*(info.supported_backward_dtypes("cpu") for info in cls.infos))
        else:
            known = set().union(*(info.supported_dtypes("cpu") for info in cls.infos))
        if cls.dtypes is not None:
            known &= {getattr(torch, name) for name in cls.dtypes}
        usual = [name for name in CALLS if getattr(torch, name) in known]
        return usual or [str(dtype)[6:] for dtype in known][:1] or ["float32"]

    @classmethod
    def _gradient_dtypes(cls) -> list[str]:
        taken = [name for name in ("float32", "float64") if cls.dtypes is None or name in cls.dtypes]
        if cls.samples:
            taken = [name for name in taken if cls._all_calls(getattr(torch, name))]
        return taken or cls._dtypes()

    @classmethod
    @functools.cache
    def _all_calls(cls, dtype: torch.dtype, seed: int = 0) -> list[Call]:
        if cls.samples:
            return sources.from_samples(cls.samples, cls.entry, dtype, seed)
        return (
            sources.from_opinfos(cls.infos, cls.entry, cls.overloads, dtype, seed)
            or sources.from_samples("usual", cls.entry, dtype, seed)
            or sources.from_schema(cls.entry, dtype, seed)
            or sources.functions(cls.infos, cls.entry, dtype, seed)
        )

    @classmethod
    def _main_dtype(cls) -> torch.dtype:
        return getattr(torch, cls._dtypes()[0])

    @classmethod
    def _calls(cls, dtype: torch.dtype | None = None, count: int | None = None) -> list[Call]:
        dtype = dtype or cls._main_dtype()
        calls = list(spread(cls._all_calls(dtype), count or CALLS.get(str(dtype)[6:], 2)))
        assert calls, (
            f"{cls.entry}: no call to compare for {dtype}; name an OpInfo or samples under `tests:` in ops.yaml"
        )
        return calls

    @classmethod
    def _aten_calls(cls, count: int) -> list[Call]:
        calls = [call for call in cls._calls(count=count) if isinstance(call.op, torch._ops.OpOverload)]
        assert calls, f"{cls.entry}: PyTorch's CPU never calls it by itself; give it samples under `tests:` in ops.yaml"
        return calls

    def _functional(self, call: Call) -> Call:
        """The call of the member of the group that writes nothing, if there is one."""
        if self.functional in (None, self.entry) or not isinstance(call.op, torch._ops.OpOverload):
            return call
        return rebind(overload(self.functional), call.by_name()) or call

    def _tolerance(self, dtype: torch.dtype) -> dict[str, float]:
        name = str(dtype)[6:]
        given = self.tol.get(name, self.tol.get(_SHORT.get(name, name)))
        if given is None:
            return {}
        return dict(given) if isinstance(given, dict) else {"rtol": given, "atol": given}

    def _compare(self, call: Call, dtype: torch.dtype) -> Any:
        """The results agree, or the errors do, and so do the arguments afterwards."""
        ours, theirs = self._determined(call).both()
        # A function may reach other kernels on the CPU, which lay their results out in their own way.
        strides = self._has_strides(call)
        expected = assert_same_outcome(ours, theirs, strides=strides, **self._tolerance(dtype))
        assert_same(ours.tensors(), theirs.tensors(), strides=False, **self._tolerance(dtype))
        return expected

    def _has_strides(self, call: Call) -> bool:
        """Whether the strides of what is compared are those of the results; invariants tell them if they matter."""
        return isinstance(call.op, torch._ops.OpOverload) and self.check != "invariants"

    def _determined(self, call: Call) -> Call:
        """The call, followed by what is determined of its results: all of them, unless the entry says otherwise."""
        return invariants.determined(self.entry, call) if self.check == "invariants" else call

    def _determined_of(self, call: Call, results: list[torch.Tensor]) -> Any:
        """Likewise, of results that are there."""
        if self.check != "invariants":
            return results
        on_cpu = [result.cpu() for result in results]
        return invariants.of(self.entry, on_cpu if len(on_cpu) > 1 else on_cpu[0], *call.args, **call.kwargs)

    def test_values(self, dtype: torch.dtype) -> None:
        for call in self._calls(dtype):
            assert not isinstance(self._compare(call, dtype), Failure)

    def test_noncontiguous(self) -> None:
        for change in (_transposed, _strided, _expanded):
            for call in self._calls(count=2):
                self._compare_laid_out(call, change, strides=False)
        for call in spread([call for call in self._all_calls(self._main_dtype()) if _has_memory_formats(call)], 2):
            self._compare_laid_out(call, _channels_last, strides=self._has_strides(call))

    def _compare_laid_out(self, call: Call, change: Callable, strides: bool) -> None:
        """The call with its tensors laid out by `change`, on each device."""
        call = self._determined(call)
        ours, theirs = (outcome(side.map(change)) for side in call.both())
        try:
            self._compare_outcomes(ours, theirs, strides=False)
        except AssertionError:
            # Some CPU kernels refuse, or misread, what is not contiguous: then they are right about a copy.
            copied = call.to("cpu").map(change).map(torch.Tensor.contiguous)
            self._compare_outcomes(ours, outcome(copied), strides=False)
        else:
            self._compare_outcomes(ours, theirs, strides=strides)

    def _compare_outcomes(self, ours: Any, theirs: Any, strides: bool) -> None:
        tolerance = self._tolerance(self._main_dtype())
        assert_same_outcome(lambda: ours, lambda: theirs, strides=strides, **tolerance)

    def test_zero_size(self) -> None:
        """All tensors without rows."""
        for call in self._calls(count=2):
            empty = call.map(lambda tensor: tensor[:0] if tensor.ndim else tensor)
            if not _is_left_open(empty):
                self._compare(empty, self._main_dtype())
                continue
            ours, theirs = (pytree.tree_map_only(torch.Tensor, torch.zeros_like, side()) for side in empty.both())
            assert_same(ours, theirs)  # all but the values

    def test_edges(self, dtype: torch.dtype) -> None:
        """Not a number, infinities, zeros of both signs and extreme numbers, each with each."""
        for call in self._calls(dtype, count=2):
            if not self._compare_edges(edges.instead(self._functional(call)), dtype):  # refused, for a division by zero
                self._compare_edges(edges.instead(self._functional(call), without=(0,)), dtype)

    def _compare_edges(self, call: Call, dtype: torch.dtype) -> bool:
        """Whether there are results to compare; errors have to agree as well."""
        ours, theirs = call.both()
        expected = outcome(theirs)
        if isinstance(expected, Failure):
            assert outcome(ours) == expected
            return False
        edges.assert_same(ours(), expected, edges.alternative(self.entry, theirs), **self._tolerance(dtype))
        return True

    def test_out(self) -> None:
        for name in sources.out_overloads(self.overloads):
            for call in self._aten_calls(2):
                expected = pytree.tree_leaves(_of_outputs(name, self._functional(call.to("cpu"))()))
                for make in (_alike, _empty, _wrong_size, _wider, _reversed_strides):
                    self._compare_out(name, call, expected, [make(tensor) for tensor in expected])

    def _compare_out(self, name: str, call: Call, values: list[torch.Tensor], outputs: list[torch.Tensor]) -> None:
        """`values` is what the functional member returns on the CPU."""
        sides = []
        for device in (DEVICE, "cpu"):
            outs = [_moved(tensor, device) for tensor in outputs]
            arguments = call.to(device).by_name() | _bind_outputs(name, outs)
            sides.append((outs, rebind(overload(name), arguments)))
        (our_outs, ours), (their_outs, theirs) = sides
        our_storage, their_storage = (_pointers(outs) for outs in (our_outs, their_outs))
        their_strides = [out.stride() for out in their_outs]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about resizing, which tests/runtime compares
            result = outcome(ours)
            expected = outcome(theirs)
        if isinstance(expected, Failure) or isinstance(result, Failure):
            assert result == expected
            return
        returned = [leaf for leaf in pytree.tree_leaves(result) if leaf is not None]  # None, for lists
        assert all(left is right for left, right in zip(returned, our_outs)), "out= must be what is returned"
        # An out= of a wider dtype is no more exact than what is cast to it.
        tolerance = self._tolerance(values[0].dtype) or usual_tolerance(values[0].dtype)
        converted = [value.to(out.dtype) for value, out in zip(values, their_outs)]
        ours, theirs, right = (self._determined_of(call, outs) for outs in (our_outs, their_outs, converted))
        as_functional = outcome(lambda: assert_same(theirs, right, strides=False, **tolerance)) is None
        as_theirs = outcome(lambda: assert_same(ours, theirs, strides=False, **tolerance)) is None
        if not as_functional and not as_theirs:
            # Some CPU kernels write an out= of other strides or dtype wrongly: then the functional member is right.
            assert_same(ours, right, strides=False, **tolerance)
            return
        if self.check != "invariants" or not as_theirs:
            strides = their_strides == [out.stride() for out in their_outs]
            assert_same(our_outs, their_outs, strides=strides, **tolerance)
        if _pointers(their_outs) == their_storage:
            assert _pointers(our_outs) == our_storage, "out= got new storage"

    def test_inplace(self) -> None:
        for name in sources.inplace_overloads(self.overloads):
            for call in self._aten_calls(3):
                ours, theirs = (rebind(overload(name), side.by_name()) for side in call.both())
                written, reference = (pytree.tree_leaves(side.by_name()["self"]) for side in (ours, theirs))
                aliases = [tensor.detach() for tensor in written]
                our_storage, their_storage = _pointers(written), _pointers(reference)
                expected = assert_same_outcome(ours, theirs, **self._tolerance(self._main_dtype()))
                if isinstance(expected, Failure):
                    continue
                if _pointers(reference) == their_storage:
                    assert _pointers(written) == our_storage, "an in-place write moved the tensor to new storage"
                    assert_same(aliases, reference, **self._tolerance(self._main_dtype()))

    def test_backward(self, dtype: torch.dtype) -> None:
        compared = 0
        for call in self._calls(dtype, count=2):
            ours, theirs = sources.gradient_call(self._determined(self._functional(call)), self.differentiated).both()
            expected = theirs()
            assert_same(ours(), expected, strides=False, **self._tolerance(dtype))
            compared += len([gradient for gradient in expected if gradient is not None])
        assert compared, f"{self.entry}: none of its calls has a gradient"

    def test_second_call_hits(self) -> None:
        """Other values, and other numbers where numbers are traced, find the programs that the first call compiled."""
        others = {call.signature(): call for call in self._all_calls(self._main_dtype(), seed=1)}
        pairs = [(call, others[call.signature()]) for call in self._calls(count=3) if call.signature() in others]
        assert pairs, f"{self.entry}: its samples differ in more than values from one seed to the next"
        for pair in pairs:
            first, second = map(self._determined, pair)
            first.to(DEVICE)()
            ours, theirs = second.both()
            expected = theirs()
            with compiles(at_most=0):
                result = ours()
            assert_same(result, expected, strides=False, **self._tolerance(self._main_dtype()))

    def test_lowering_ran(self) -> None:
        with no_fallback():
            for call in self._calls(count=2):
                call.to(DEVICE)()
        composed = self.entry not in self.overloads  # torch's own, of others: only its out= or in-place form comes here
        assert not ON_TPU or composed or self.entry in compiled_entries(), f"no call above reached {self.entry}"

    def test_errors(self) -> None:
        """OpInfo's wrong inputs raise what they raise on the CPU."""
        for call in self.errors[:_ERRORS]:
            ours, theirs = call.both()
            assert isinstance(assert_same_outcome(ours, theirs), Failure)

    def test_narrow(self) -> None:
        """No program computes in 64 bits if nothing that it gets or gives has so many: neither these nor any before."""
        for call in self._calls(torch.float32):
            call.to(DEVICE)()
        assert computed_in_64_bits().get(self.entry) is None

    def test_kernel(self) -> None:
        """The Pallas kernel computes what its fallback computes, and is what runs on a TPU, and there only."""
        kernels.compare(self.entry, self._tolerance(torch.bfloat16))
        assert kernels.runs_on(self.entry, "tpu") and not kernels.runs_on(self.entry, "cpu")

    def test_checks(self) -> None:
        """Values that meta cannot see are refused though a program is cached for the call, by the whole group."""
        for check in self.checks:
            for pair in check_samples.pairs(check, self.entry):
                for name in self.overloads:
                    good, bad = self._checked_calls(name, pair)
                    same_key = key(good, self.numbers, self.sizes) == key(bad, self.numbers, self.sizes)
                    assert same_key == (pair.other_key is None), f"{name}: see Pair.other_key in check_samples"
                    self._compare_refused(good, bad)

    def _checked_calls(self, name: str, pair: check_samples.Pair) -> list[Call]:
        """The pair as calls of the member `name`, with outputs that fit."""
        good, bad = (Call(overload(self.entry), *arguments).by_name() for arguments in (pair.good, pair.bad))
        outputs = {}
        if sources.out_overloads((name,)):
            results = pytree.tree_leaves(rebind(overload(self.functional), good)())
            outputs = _bind_outputs(name, [_alike(result) for result in results])
        return [rebind(overload(name), arguments | outputs) for arguments in (good, bad)]

    def _compare_refused(self, good: Call, bad: Call) -> None:
        """`bad` raises what it raises on the CPU, compiles and writes nothing; `good` is served before and after."""
        good.to(DEVICE)()
        for tensor in good.to(DEVICE).tensors():  # as flat as PyTorch's CPU is handed its copy, which may be a program
            torch.as_strided(tensor, (tensor.numel(),), (1,)).cpu()
        ours, theirs = bad.both()
        with compiles(at_most=0):
            refused = assert_same_outcome(ours, theirs)
        assert isinstance(refused, Failure), f"the CPU accepts {bad.op} with {bad.args}, {bad.kwargs}"
        assert_same(ours.tensors(), bad.tensors())
        ours, theirs = good.both()
        with compiles(at_most=0):
            results = ours(), theirs()
        if self.check == "distribution":  # the numbers differ, and only they
            results = tuple(pytree.tree_map_only(torch.Tensor, torch.zeros_like, result) for result in results)
        assert_same(*results)

    def test_distribution(self) -> None:
        for call in self._random_calls():
            ours, theirs = call.both()
            distribution.assert_alike(ours(), theirs())

    def test_calls_differ(self) -> None:
        for call in self._random_calls():
            distribution.assert_independent(call.to(DEVICE)(), call.to(DEVICE)())

    def test_seed_repeats(self) -> None:
        for call in self._random_calls():
            results = []
            for _ in range(2):
                torch.manual_seed(7)
                results.append(pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.cpu(), call.to(DEVICE)()))
            torch.testing.assert_close(*results, rtol=0, atol=0, equal_nan=True)

    def _random_calls(self) -> list[Call]:
        calls = sources.from_samples(self.samples or "random", self.entry, torch.float32, seed=0)
        assert calls, f"{self.entry}: no call in tests.ops.samples.random draws from it"
        return calls


_TESTS = [name for name in vars(OpTest) if name.startswith("test_")]


def _transposed(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.mT.contiguous().mT if tensor.ndim > 1 else tensor


def _strided(tensor: torch.Tensor) -> torch.Tensor:
    """Every other element of a larger tensor, from its second on."""
    if tensor.ndim == 0:
        return tensor
    base = torch.zeros((*tensor.shape[:-1], 2 * tensor.shape[-1] + 1), dtype=tensor.dtype, device=tensor.device)
    return base[..., 1::2].copy_(tensor)


def _expanded(tensor: torch.Tensor) -> torch.Tensor:
    return tensor[:1].expand_as(tensor) if tensor.ndim > 1 else tensor


_MEMORY_FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}


def _channels_last(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous(memory_format=_MEMORY_FORMATS.get(tensor.ndim, torch.contiguous_format))


def _has_memory_formats(call: Call) -> bool:
    return any(tensor.ndim in _MEMORY_FORMATS for tensor in call.tensors())


def _is_left_open(call: Call) -> bool:
    """Whether the CPU returns memory that it never wrote: where memory starts as nan, the results are others."""
    plain = outcome(call.to("cpu"))
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        filled = outcome(call.to("cpu"))
    finally:
        torch.use_deterministic_algorithms(False)
    try:
        assert_same_outcome(lambda: filled, lambda: plain)
    except AssertionError:
        return True
    return False


def _alike(tensor: torch.Tensor) -> torch.Tensor:
    return torch.ones_like(tensor)


def _empty(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.new_empty(0)


def _wrong_size(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.new_ones(*tensor.shape, 2)


def _wider(tensor: torch.Tensor) -> torch.Tensor:
    return torch.ones_like(tensor, dtype=torch.float64)


def _reversed_strides(tensor: torch.Tensor) -> torch.Tensor:
    backwards = tuple(reversed(range(tensor.ndim)))
    return torch.ones_like(tensor.permute(backwards), memory_format=torch.contiguous_format).permute(backwards)


def _moved(tensor: torch.Tensor, device: str) -> torch.Tensor:
    moved = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)
    return moved.copy_(tensor)


def _pointers(tensors: list[torch.Tensor]) -> list[int]:
    return [tensor.data_ptr() for tensor in tensors]


def _of_outputs(name: str, results: Any) -> Any:
    """What an overload's out= receive of a functional member's results: other written arguments receive the rest."""
    count = sum(argument.is_out for argument in overload(name)._schema.arguments)
    return results[:count] if isinstance(results, tuple) else results


def _bind_outputs(name: str, outputs: list[torch.Tensor]) -> dict[str, Any]:
    arguments = [argument for argument in overload(name)._schema.arguments if argument.is_out]
    if "List" in str(arguments[0].type):
        return {arguments[0].name: outputs}
    return {argument.name: output for argument, output in zip(arguments, outputs)}
