"""A call becomes a program: views read, the lowering traced, results brought to what PyTorch promised, views written."""

import math
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax import Array, lax
from torch._prims_common import suggest_memory_format

from torchtpu.lowerings.checked import Checked
from torchtpu.lowerings.padded import Padded
from torchtpu.lowerings.promotion import cast
from torchtpu.miss import dtypes, views, words
from torchtpu.miss.call import Argument, Call, Number, Use
from torchtpu.miss.errors import LoweringError
from torchtpu.miss.meta import Meta, grows_on_cpu


class NeedsResize(Exception):
    """The lowering's result has other sizes than an out= argument. sizes: by use."""

    def __init__(self, sizes: dict[int, tuple[int, ...]]):
        super().__init__()
        self.sizes = sizes


@dataclass
class Layout:
    """What the runtime has to know of a traced program, in the terms of csrc/cache/program.h."""

    outputs: list[tuple] = field(default_factory=list)
    results: list[tuple] = field(default_factory=list)
    copies: list[tuple[int, int]] = field(default_factory=list)
    stored: set[int] = field(default_factory=set)


class Program:
    """The JAX function of one call.

    meta: None when the shapes of the results are those that the lowering gives.
    """

    def __init__(self, call: Call, meta: Meta | None):
        self.call = call
        self.meta = meta
        self.entry = call.entry
        # What the promoted arguments are brought to, and what results have that no meta kernel speaks of; or None.
        self.computed, self.result = self._promotion()
        self.formats = {number.index: self._format(number) for number in call.numbers if not number.specialized}
        self._of_halves = any(use.tensor.dtype == torch.complex32 for use in call.uses)
        self.storages = sorted({use.storage for use in call.uses})
        self.starts = [use.wide for use in call.uses for _ in range(use.view.num_starts)]
        self.num_words = words.count(
            self.entry.rng, list(self.formats.values()), self.starts.count(False), self.starts.count(True)
        )

    def spec(self, storage: int) -> jax.ShapeDtypeStruct:
        view = self.call.uses[storage].view
        return jax.ShapeDtypeStruct(view.base_sizes, view.base_dtype)

    def function(self, layout: Layout, operand_words: Array | None, bases: dict[int, Array]) -> tuple[Array, ...]:
        """Traces the call. A base that is missing is one whose value does not matter. Fills in the layout."""
        for storage in self.storages:
            bases.setdefault(storage, jnp.zeros(self.spec(storage).shape, self.spec(storage).dtype))
        source = words.Words(jnp.zeros(self.num_words, jnp.uint32) if operand_words is None else operand_words)
        key = source.key() if self.entry.rng else None
        numbers = {index: source.number(format) for index, format in self.formats.items()}
        starts = {use.index: [source.start(use.wide) for _ in range(use.view.num_starts)] for use in self.call.uses}

        value = self.lower([] if key is None else [key], bases, numbers, starts)
        value, ok = (value.value, value.ok) if isinstance(value, Checked) else (value, None)
        return self._place(layout, value, ok, bases, starts)

    def lower(self, keys: list[Array], bases: dict[int, Array], numbers: dict[int, Array], starts: dict[int, list[Array]]) -> Any:
        """The lowering's own value for the call."""
        if self.entry.decompose:
            from torchtpu.miss.decompose import lower_decomposition

            return lower_decomposition(self.call, bases, numbers, starts)
        arguments = self._lowering_arguments(bases, numbers, starts)
        if self.entry.name == "uniform_" and self._of_halves:
            # Halves are drawn as such: what is drawn as float32 may be rounded to the end that is no part of the range.
            words = views.encode(arguments["self"], np.dtype(np.uint32))
            halves = self.entry.lowering(*keys, **arguments | {"self": lax.bitcast_convert_type(words, jnp.float16)})
            return views.decode(lax.bitcast_convert_type(halves, jnp.uint32), np.dtype(np.complex64))
        # The random key is positional: SDPA has an argument named key as well.
        return self.entry.lowering(*keys, **arguments)

    # Arguments.

    def _promotion(self) -> tuple[torch.dtype | None, torch.dtype | None]:
        if self.entry.promote == "none":
            return None, None
        present = filter(self._has, self.entry.promoted)
        operands = [o for name in present for o in _flatten(self._argument(name).value) if o is not None]
        operands = [o.tensor if isinstance(o, Use) else o.value if isinstance(o, Number) else o for o in operands]
        return dtypes.promotion(self.entry.promote, operands, self.call.asked_dtype())

    def _default_dtype(self) -> torch.dtype | None:
        """What a factory without a dtype makes: torch's default, which meta knows."""
        return self.meta.results[0].dtype if self.meta and not self.call.uses else None

    def _format(self, number: Number) -> str:
        promoted = any(number in _flatten(self._argument(name).value) for name in filter(self._has, self.entry.promoted))
        tensors = [use.view.dtype for use in self.call.uses]
        if not tensors and (made := self._default_dtype()):  # a factory's
            tensors = [dtypes.to_numpy(made)]
        wide = any(dtype in (np.float64, np.int64, np.uint64, np.complex128) for dtype in tensors)
        return dtypes.number_format(number.value, self.computed if promoted else None, wide)

    def _argument(self, param: str) -> Argument:
        return self.call.argument(_schema_name(param))

    def _has(self, param: str) -> bool:
        return any(argument.name == _schema_name(param) for argument in self.call.arguments)

    def _lowering_arguments(self, bases, numbers, starts) -> dict[str, Any]:
        def lower(value: Any, promoted: bool) -> Any:
            if isinstance(value, list):
                items = [lower(item, promoted) for item in value]
                return items if any(isinstance(item, (Use, Number)) for item in value) or not items else tuple(items)
            if isinstance(value, Use):
                array = views.read(value.view, bases[value.storage], starts[value.index])
                return cast(array, dtypes.to_numpy(self.computed)) if promoted else array
            if isinstance(value, Number):
                if value.specialized:
                    return value.value
                number = numbers[value.index]
                return cast(number, dtypes.to_numpy(self.computed)) if promoted else number
            return value

        result = {}
        for param in self.entry.params:
            if not self._has(param.name):
                dtype = self.call.asked_dtype() if param.name == "dtype" else None
                result[param.name] = dtype and dtypes.to_numpy(dtype)
                continue
            argument = self._argument(param.name)
            if param.type.startswith("ScalarType"):
                dtype = argument.given or self._default_dtype()
                result[param.name] = dtype and dtypes.to_numpy(dtype)
            else:
                result[param.name] = lower(argument.value, param.name in self.entry.promoted)
                if isinstance(result[param.name], tuple) and "Tensor" in param.type:
                    result[param.name] = list(result[param.name])
        if self.entry.dims:
            result[self.entry.dims] = self._dims(self._argument(self.entry.dims).type, result)
        return result | dict(zip(self.entry.key_sizes, self.call.key_sizes, strict=True))

    def _dims(self, kind: str, arguments: dict[str, Any]) -> int | tuple[int, ...] | None:
        """Non-negative dims. None and [] mean all of them, unless there can be only one (`int?`)."""
        ndim = next(_first(value).ndim for value in arguments.values() if _first(value) is not None)
        dims = arguments[self.entry.dims]
        if dims is None and "[" not in kind:
            return None
        for dim in dims or () if not isinstance(dims, int) else (dims,):
            if not -max(ndim, 1) <= dim < max(ndim, 1):
                raise IndexError(f"dimension {dim} of {ndim}")  # where there is no meta kernel to say so
        if isinstance(dims, int):
            return dims % max(ndim, 1)
        if not dims:
            return tuple(range(ndim))
        return tuple(dim % max(ndim, 1) for dim in dims) if ndim else ()

    # Results.

    def _place(self, layout: Layout, value: Any, ok: Array | None, bases, starts) -> tuple[Array, ...]:
        """Assigns the lowering's values to the returns of the schema and the written arguments, in that order."""
        returns = self.call.op._schema.returns
        fresh = [i for i, r in enumerate(returns) if r.alias_info is None or not r.alias_info.is_write]
        written = self.call.written_arguments()
        yielded = self._yielded(fresh)
        slots = len(yielded) + len(written)
        values = list(value) if isinstance(value, tuple) and not isinstance(value, Padded) else [value]
        if len(values) != slots:
            raise LoweringError(self.call, f"it returned {len(values)} values where {slots} are expected")

        outputs: list[Array] = []
        by_return = {i: self._new(layout, outputs, i, values.pop(0)) for i in yielded}
        new_sizes: dict[int, tuple[int, ...]] = {}
        for argument, new in zip(written, values):
            targets = argument.value if isinstance(argument.value, list) else [argument.value]
            for use, item in zip(targets, new if isinstance(argument.value, list) else [new]):
                if use is None or item is None:
                    continue
                if self.entry.data_sizes:
                    layout.copies.append((self._append_new(layout, outputs, item, None), use.index))
                    continue
                if argument.is_out and self.meta and item.size == math.prod(use.view.sizes):
                    item = item.reshape(use.view.sizes)  # meta has left it as it was
                if item.shape != use.view.sizes and argument.is_out:
                    new_sizes[use.index] = item.shape
                elif item.shape != use.view.sizes and grows_on_cpu(self.call, argument, item.shape):
                    item = self.convert(item, use.view.dtype, written=True)
                    layout.copies.append((self._append_new(layout, outputs, item, None), use.index))
                else:
                    self._check_shape(item, use.view.sizes, argument.name)
                    item = self.convert(item, use.view.dtype, written=True)
                    bases[use.storage] = views.write(use.view, bases[use.storage], starts[use.index], item)
                    layout.stored.add(use.storage)
        if new_sizes:
            raise NeedsResize(new_sizes)
        for storage in sorted(layout.stored):
            layout.outputs.append(("store", storage, bases[storage].nbytes))
            outputs.append(bases[storage])
        if ok is not None:
            layout.outputs.append(("error",))
            outputs.append(jnp.logical_not(ok).astype(jnp.int32))
        layout.results = [self._result(i, returned, by_return) for i, returned in enumerate(returns)]
        return tuple(outputs)

    def _yielded(self, fresh: list[int]) -> list[int]:
        if self.entry.returns is None:
            return fresh
        names = [returned.name for returned in self.call.op._schema.returns]
        return [names.index(name) for name in self.entry.returns if names.index(name) in fresh]

    def _new(self, layout: Layout, outputs: list[Array], index: int, value: Any) -> tuple:
        """The result of return number `index`, in the terms of csrc/cache/program.h."""
        if value is None:
            return ("list", []) if "[]" in str(self.call.op._schema.returns[index].type) else ("undefined",)
        meta = self.meta.results[index] if self.meta else None
        if isinstance(value, list):
            metas = meta or [None] * len(value)
            return ("list", [("output", self._append_new(layout, outputs, v, m)) for v, m in zip(value, metas)])
        return ("output", self._append_new(layout, outputs, value, meta))

    def _append_new(self, layout: Layout, outputs: list[Array], value: Array | Padded, meta: torch.Tensor | None, first: int = 0) -> int:
        """A new tensor: its base has the dimensions in the order of meta's strides, so that it is dense in memory.

        first: without meta, the dimension with the largest stride; the others follow in order.
        """
        if isinstance(value, Padded):
            index = self._append_new(layout, outputs, value.value, meta, value.axis)
            layout.outputs.append(("count", index, value.axis))
            outputs.append(value.count.astype(jnp.int32))
            return index
        if meta is None:
            dtype = self._dtype_without_meta(value)
            value = cast(value, dtypes.to_numpy(dtype))
            sizes, strides = value.shape, _strides_from(first, value.shape)
            if self.entry.meta == "fix:column_major" and value.ndim == 2:
                strides = (1, value.shape[0])
        else:
            self._check_shape(value, tuple(meta.shape), "its result")
            sizes, strides, dtype = tuple(meta.shape), meta.stride(), meta.dtype
            value = self.convert(value, dtypes.to_numpy(dtype), written=False)
        if self.entry.memory_format is not None:
            strides = self._strides_in_memory_format(sizes)
        order = sorted(range(len(sizes)), key=lambda dim: -strides[dim])
        base_sizes = [sizes[dim] for dim in order]
        if not _is_dense(base_sizes, [strides[dim] for dim in order]):
            strides, order, base_sizes = _contiguous_strides(sizes), list(range(len(sizes))), sizes
        layout.outputs.append(("new", sizes, strides, base_sizes, dtype))
        outputs.append(views.encode(value, dtypes.in_memory(dtype)).transpose(order))
        return len(outputs) - 1

    def _dtype_without_meta(self, value: Array) -> torch.dtype:
        if self.computed and value.dtype == dtypes.to_numpy(self.computed):
            return self.result
        dtype = dtypes.to_torch(value.dtype)
        # No array says that it is of halves: the arguments do.
        given = {use.tensor.dtype for use in self.call.uses if use.tensor.is_complex()}
        return torch.complex32 if dtype == torch.complex64 and given == {torch.complex32} else dtype

    def _strides_in_memory_format(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """Those of a new tensor that follows the arguments which the entry names."""
        values = [self.call.argument(name).value for name in self.entry.memory_format]
        formats = {suggest_memory_format(value.tensor) for value in values if isinstance(value, Use)}
        wanted = {4: torch.channels_last, 5: torch.channels_last_3d}.get(len(sizes))
        memory_format = wanted if wanted in formats else torch.contiguous_format
        return torch.empty(sizes, memory_format=memory_format, device="meta").stride()

    def convert(self, value: Array, dtype: np.dtype, written: bool) -> Array:
        """To the promised dtype. Only a declared computation dtype, or a written argument's own, may differ (E307).

        A lowering that is not told of halves gives the parts of complex32 in float32.
        """
        if value.dtype == dtype:
            return value
        computed = self.computed and dtypes.to_numpy(self.computed)
        if self._of_halves and value.dtype == np.float32 and dtype == np.float16:
            return cast(value, dtype)
        if not written and value.dtype not in (computed, computed and np.zeros((), computed).real.dtype):
            raise LoweringError(self.call, f"it returned {value.dtype} where PyTorch says {dtype} (E307)")
        return cast(value, dtype)

    def _check_shape(self, value: Array, sizes: tuple[int, ...], what: str) -> None:
        if tuple(value.shape) != tuple(sizes):
            raise LoweringError(self.call, f"{what} has shape {value.shape} where PyTorch says {tuple(sizes)} (E307)")

    def _result(self, index: int, returned: Any, by_return: dict[int, tuple]) -> tuple:
        if index in by_return:
            return by_return[index]
        if returned.alias_info is not None and returned.alias_info.is_write:
            for position, schema in enumerate(self.call.op._schema.arguments):
                if schema.alias_info is not None and schema.alias_info.before_set == returned.alias_info.before_set:
                    return ("argument", position)
        return ("undefined",) if "Tensor" in str(returned.type) else ("integer", 0)


def _schema_name(param: str) -> str:
    return param.removesuffix("_") if param in ("from_", "lambda_", "is_", "in_", "global_") else param


def _flatten(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in _flatten(item)] if isinstance(value, (list, tuple)) else [value]


def _first(value: Any) -> Array | None:
    """The array that an argument's dims are counted in: itself, or the first of a list, where vectors of length 0 may
    stand for anything: torch's history."""
    if isinstance(value, list):
        present = [item for item in value if item is not None]
        return next((item for item in present if item.shape != (0,)), present[0] if present else None)
    return value if isinstance(value, jax.Array) else None


def _contiguous_strides(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(max(size, 1) for size in sizes[dim + 1 :]) for dim in range(len(sizes)))


def _strides_from(first: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Those of a tensor that was made with dimension `first` in front."""
    strides = list(_contiguous_strides((*sizes[first : first + 1], *sizes[:first], *sizes[first + 1 :])))
    return (*strides[1 : first + 1], *strides[:1], *strides[first + 1 :])


def _is_dense(sizes: list[int], strides: list[int]) -> bool:
    expected = 1
    for size, stride in zip(reversed(sizes), reversed(strides)):
        if size != 1 and stride != expected and 0 not in sizes:
            return False
        expected *= size
    return True
