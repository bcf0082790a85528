"""`decompose: true`: torch's own decomposition, run on meta tensors while each op that it reaches is traced by its entry.

Meta tensors stand for arrays by their storage: views of them share it, as on the device, and are read and written in the
same way. So a decomposition may view and mutate as it likes.
"""

from typing import Any

import jax.numpy as jnp
import torch
from jax import Array
from torch._C import DispatchKey
from torch._decomp import core_aten_decompositions, decomposition_table
from torch.utils._python_dispatch import TorchDispatchMode

from torchtpu import _C
from torchtpu.generated import ENTRIES, OVERLOADS
from torchtpu.lowerings.checked import Checked
from torchtpu.lowerings.promotion import cast
from torchtpu.miss import dtypes, narrowed, views
from torchtpu.miss.call import Argument, Call, Number, Use
from torchtpu.miss.errors import LoweringError
from torchtpu.miss.meta import Meta
from torchtpu.miss.views import Segment, View


def lower_decomposition(call: Call, bases: dict[int, Array], numbers: dict[int, Array], starts: dict[int, list[Array]]) -> Any:
    """What the decomposition of the call's op returns, as arrays; Checked if an op on the way checks its input."""
    interpreter = _Interpreter(call)

    def stand_in(value: Any) -> Any:
        if isinstance(value, list):
            return [stand_in(item) for item in value]
        if isinstance(value, Use):
            return interpreter.define(value.tensor, views.read(value.view, bases[value.storage], starts[value.index]))
        if isinstance(value, Number) and value.index in numbers:
            number = numbers[value.index]
            return interpreter.define(value.value if isinstance(value.value, torch.Tensor) else torch.tensor(value.value), number)
        return value.value if isinstance(value, Number) else value

    author = _operator(call.entry.name)
    names = {argument.name for argument in author._schema.arguments}
    own = [a for a in call.arguments if a.name in names]
    values = [a.given if a.type.startswith("ScalarType") else stand_in(a.value) for a in own]
    keyword = {a.name: value for a, value in zip(own, values) if a.kwarg_only}
    with interpreter:
        result = decomposition_table[author](*(value for a, value in zip(own, values) if not a.kwarg_only), **keyword)
    result = tuple(map(interpreter.read, result)) if isinstance(result, (tuple, list)) else interpreter.read(result)
    return Checked(result, interpreter.ok) if interpreter.ok is not None else result


class _Interpreter(TorchDispatchMode):
    def __init__(self, call: Call) -> None:
        super().__init__()
        self.call = call
        self.ok: Array | None = None  # the verdict of all checked lowerings so far
        self._bases: dict[int, Array] = {}
        self._alive: list[torch.Tensor] = []  # a storage is known by its address, which must not be used again
        self._table = core_aten_decompositions()

    def define(self, like: torch.Tensor, value: Array) -> torch.Tensor:
        """A contiguous meta tensor that stands for `value`, with the dtype of `like`."""
        meta = torch.empty(like.shape, dtype=like.dtype, device="meta")
        self._keep(meta)
        value = value.astype(dtypes.to_numpy(like.dtype)).reshape(-1)
        self._bases[_storage(meta)] = views.encode(value, dtypes.in_memory(like.dtype))
        return meta

    def read(self, meta: torch.Tensor | None) -> Array | None:
        if not isinstance(meta, torch.Tensor):
            return None
        view = _view(meta)
        return views.read(view, self._base(meta), view.starts_at(meta.storage_offset()))

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        overload = OVERLOADS.get(func.name().removeprefix("aten::"))
        if overload is not None and overload in ENTRIES:
            return self._evaluate(func, ENTRIES[overload], args, kwargs)
        if func.has_kernel_for_dispatch_key(DispatchKey.CompositeImplicitAutograd):
            return self._follow(func.decompose, args, kwargs)  # some of them are views only for some arguments
        if func.is_view:
            return self._keep(func(*args, **kwargs))
        if func in _FACTORIES:
            return self._fresh(func(*args, **kwargs))
        if func in _CASTS:
            return self._copy(self._fresh(func(*args, **kwargs)), args[0])
        if func is torch.ops.aten.copy_.default:
            return self._copy(*args[:2])
        if func in self._table:
            return self._follow(self._table[func], args, kwargs)
        if func.has_kernel_for_dispatch_key(DispatchKey.CompositeExplicitAutograd):
            return self._follow(lambda *a, **k: func._op_dk(DispatchKey.CompositeExplicitAutograd, *a, **k), args, kwargs)
        raise LoweringError(self.call, f"its decomposition reaches {func.name()}, which has no entry (E305)")

    def _fresh(self, meta: torch.Tensor) -> torch.Tensor:
        """A new tensor, of zeros as far as anybody may look."""
        self._bases[_storage(meta)] = jnp.zeros(_base_sizes(meta), dtypes.in_memory(meta.dtype))
        return self._keep(meta)

    def _copy(self, meta: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        """ATen's copies end in the devices' own, which for meta tensors do nothing."""
        view = _view(meta)
        values = jnp.broadcast_to(cast(self.read(source), view.dtype), view.sizes)
        self._bases[_storage(meta)] = views.write(view, self._base(meta), view.starts_at(meta.storage_offset()), values)
        return meta

    def _follow(self, body: Any, args: Any, kwargs: Any) -> Any:
        with self:
            return body(*args, **kwargs)

    def _evaluate(self, func: Any, entry: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        from torchtpu.miss.program import Program

        results = func(*args, **kwargs)
        inner, bases, starts = self._inner_call(func, entry, args, kwargs)
        narrowed.check(inner)
        returns = func._schema.returns
        metas = () if not returns else (results,) if len(returns) == 1 else tuple(results)
        program = Program(inner, Meta(metas, {}))
        value = program.lower([], bases, {}, starts)
        if isinstance(value, Checked):
            self.ok = value.ok if self.ok is None else self.ok & value.ok
            value = value.value
        values = list(value) if isinstance(value, tuple) else [value]
        for returned, meta in zip(returns, metas):
            if returned.alias_info is None or not returned.alias_info.is_write:
                self._assign(program, meta, values.pop(0), written=False)
        for argument, new in zip(inner.written_arguments(), values):
            self._assign(program, argument.given, new, written=True)
        return results

    def _assign(self, program: Any, meta: Any, value: Any, written: bool) -> None:
        if isinstance(meta, (list, tuple)):
            for item, new in zip(meta, value):
                self._assign(program, item, new, written)
        elif isinstance(meta, torch.Tensor) and value is not None:
            view = _view(meta)
            new = program.convert(value, view.dtype, written)
            self._keep(meta)
            base = self._base(meta) if written else jnp.zeros(_base_sizes(meta), view.held)
            self._bases[_storage(meta)] = views.write(view, base, view.starts_at(meta.storage_offset()), new)

    def _inner_call(self, func: Any, entry: Any, args: tuple, kwargs: dict[str, Any]) -> tuple[Call, dict, dict]:
        """The op as a Call whose uses are the meta tensors, each with a storage of its own."""
        uses: list[Use] = []
        numbers: list[Number] = []
        types = {param.name.removesuffix("_"): param for param in entry.params}

        def sort(value: Any, traced: bool) -> Any:
            if isinstance(value, (list, tuple)):
                return [sort(item, traced) for item in value]
            if isinstance(value, torch.Tensor):
                uses.append(Use(len(uses), value, _view(value), len(uses), len(uses), False, False))
                return uses[-1]
            if traced and value is not None:
                numbers.append(Number(len(numbers), value, True))
                return numbers[-1]
            return value

        arguments = []
        for position, schema in enumerate(func._schema.arguments):
            given = args[position] if position < len(args) else kwargs.get(schema.name, schema.default_value)
            param = types.get(schema.name)
            kind = param.type if param else str(schema.type)
            value = sort(given, bool(param and param.traced))
            arguments.append(Argument(schema.name, kind, schema.is_out, schema.kwarg_only, value, given))
        call = Call(func.name().removeprefix("aten::"), [], func, entry, tuple(arguments), tuple(uses), tuple(numbers), (),
                    self.call.platform, self.call.portable, self.call.stablehlo_version)  # fmt: skip
        bases = {use.storage: self._base(use.tensor) for use in uses}
        starts = {use.index: use.view.starts_at(use.tensor.storage_offset()) for use in uses}
        return call, bases, starts

    def _base(self, meta: torch.Tensor) -> Array:
        if _storage(meta) not in self._bases:
            raise LoweringError(self.call, "its decomposition computes a value without an op that could be traced")
        return self._bases[_storage(meta)]

    def _keep(self, result: Any) -> Any:
        self._alive.append(result)
        return result


_CASTS = {torch.ops.aten._to_copy.default, torch.ops.prims.convert_element_type.default}
_FACTORIES = {torch.ops.aten.empty.memory_format, torch.ops.aten.empty_strided.default}


def _operator(name: str) -> Any:
    base, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def _storage(meta: torch.Tensor) -> int:
    return meta.untyped_storage()._cdata


def _base_sizes(meta: torch.Tensor) -> tuple[int, ...]:
    return (meta.untyped_storage().nbytes() // meta.itemsize,)


def _view(meta: torch.Tensor) -> View:
    """The meta tensor over its storage, which is flat here."""
    sizes, dtype, held = tuple(meta.shape), dtypes.to_numpy(meta.dtype), dtypes.in_memory(meta.dtype)
    base_sizes = _base_sizes(meta)
    segments = None
    if meta.numel() > 0:
        solved = _C.solve_view(base_sizes, sizes, meta.stride(), meta.storage_offset())
        segments = solved and tuple(Segment(size, extent, step, None if dim < 0 else dim) for size, extent, step, dim in solved)
    whole = sizes == base_sizes and meta.is_contiguous()
    return View(sizes, meta.stride(), dtype, held, base_sizes, held, whole, segments, meta.is_conj(), meta.is_neg())
