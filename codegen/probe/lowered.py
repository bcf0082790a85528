"""What a lowering returns, by jax.eval_shape, next to what torch's meta kernel says."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as KIND
from torch._prims_common import elementwise_dtypes, get_computation_dtype

from codegen.derive import Plan, Role
from codegen.probe.samples import DIFFERENTIABLE, DTYPES, accepted, on, operator

_NUMPY = {
    torch.bool: np.dtype(bool),
    torch.uint8: np.dtype("uint8"),
    torch.uint64: np.dtype("uint64"),
    torch.int8: np.dtype("int8"),
    torch.int16: np.dtype("int16"),
    torch.int32: np.dtype("int32"),
    torch.int64: np.dtype("int64"),
    torch.float16: np.dtype("float16"),
    torch.bfloat16: np.dtype(jnp.bfloat16),
    torch.float32: np.dtype("float32"),
    torch.float64: np.dtype("float64"),
    torch.complex64: np.dtype("complex64"),
    torch.complex128: np.dtype("complex128"),
}
_KINDS = {
    "default": KIND.DEFAULT,
    "int_to_float": KIND.INT_TO_FLOAT,
    "int_to_long": KIND.BOOL_TO_LONG,
    "bool": KIND.ALWAYS_BOOL,
    "complex_to_float": KIND.COMPLEX_TO_FLOAT,
}


def disagreements(plan: Plan, lowering: Callable[..., Any]) -> list[str]:
    """In which ways the lowering's outputs differ from torch's, over the samples that torch accepts."""
    found = []
    with jax.enable_x64(True):
        for arguments in accepted(plan.group.author, _dtypes(plan)):
            problem = _compare(plan, lowering, arguments)
            if problem:
                found.append(f"for ({_described(arguments)}) {problem}")
    return list(dict.fromkeys(found))


def _dtypes(plan: Plan) -> tuple[torch.dtype, ...]:
    dtypes, only = DIFFERENTIABLE if _is_backward(plan) else DTYPES, plan.dtypes
    return dtypes if only is None else tuple(dtype for dtype in dtypes if str(_NUMPY[dtype]) in only)


def _is_backward(plan: Plan) -> bool:
    """Samples of these are made without a forward pass: their shapes need not fit together, though torch takes them."""
    return "backward" in plan.name


def _compare(plan: Plan, lowering: Callable[..., Any], arguments: dict[str, Any]) -> str | None:
    expected = _expected(plan, arguments)
    computed = _computation_dtype(plan, arguments)
    try:
        outputs = _evaluate(plan, lowering, arguments, computed)
    except Exception as error:  # the lowering is the author's own code
        if _is_backward(plan):
            return None
        said = str(error).splitlines()[0] if str(error) else ""
        return f"the lowering raises {type(error).__name__}: {said[:160]}"
    outputs = outputs[: len(outputs) - len(plan.entry.mutates)]
    if len(outputs) != len(expected):
        return f"the lowering returns {len(outputs)} outputs, torch {len(expected)}"
    for output, meta in zip(outputs, expected, strict=True):
        if output is None:
            continue
        dtype = _NUMPY[meta.dtype]
        # Outputs of the computation dtype become meta's, as the entry's `promote` declares.
        allowed = {dtype} if computed is None else {dtype, _NUMPY[computed], np.zeros((), _NUMPY[computed]).real.dtype}
        if tuple(output.shape) != tuple(meta.shape) or output.dtype not in allowed:
            return f"the lowering returns {output.dtype}{list(output.shape)}, torch {dtype}{list(meta.shape)}"
    return None


def _expected(plan: Plan, arguments: dict[str, Any]) -> list[torch.Tensor]:
    """The tensors that torch returns anew, then those that it writes: what a lowering yields."""
    arguments = on("meta", arguments)
    op = operator(plan.group.author)
    result = op(**arguments)
    results = result if isinstance(result, (tuple, list)) and len(op._schema.returns) > 1 else [result]
    fresh = {r.name or str(i): results[i] for i, r in enumerate(op._schema.returns) if r.alias_info is None}
    yielded = list(fresh.values()) if plan.entry.returns is None else [fresh[name] for name in plan.entry.returns]
    written = [arguments[a.argument.name] for a in plan.arguments if a.argument.written]
    return _flat([*yielded, *written])


def _evaluate(
    plan: Plan, lowering: Callable[..., Any], arguments: dict[str, Any], computed: torch.dtype | None
) -> list[Any]:
    """The flat outputs of the lowering, called as torchtpu.miss calls it."""
    traced, static = {}, {}
    defaults = {a.name: a.default_value for a in operator(plan.group.author)._schema.arguments}
    for a in plan.arguments:
        name = a.argument.python_name
        value = arguments.get(a.argument.name, defaults[a.argument.name])
        number = a.role is Role.TRACED and value not in a.specialize
        if value is not None and (number or a.argument.base == "Tensor"):
            traced[name] = _abstract(value)
        else:
            dims = a.argument.name == plan.entry.dims and ("[]" in a.argument.type or value is not None)
            static[name] = _dims(value, _rank(arguments)) if dims else _static(value, a.argument.base)
    static |= {name: 2 for name in plan.key_sizes} | {name: True for name in plan.layouts}
    promoted = {a.argument.python_name for a in plan.arguments if a.argument.name in plan.promoted}

    def call(key: Any, traced: dict[str, Any]) -> Any:
        if computed:
            traced = {name: _cast(value, computed) if name in promoted else value for name, value in traced.items()}
        return lowering(*((key,) if plan.entry.rng else ()), **traced, **static)

    result = jax.eval_shape(call, _key(), traced)
    if hasattr(result, "ok"):  # Checked: a value and whether it counts
        result = result.value
    return jax.tree.leaves(result, is_leaf=lambda leaf: leaf is None)


@functools.cache
def _key() -> Any:
    """An abstract random key."""
    return jax.eval_shape(lambda: jax.random.key(0))


def _computation_dtype(plan: Plan, arguments: dict[str, Any]) -> torch.dtype | None:
    """What `promote` brings the promoted arguments to, by torch's own rules; None if there are none."""
    operands = [arguments[name] for name in plan.promoted if arguments.get(name) is not None]
    flat = [item for operand in operands for item in (operand if isinstance(operand, list) else [operand])]
    if not any(isinstance(item, torch.Tensor) for item in flat):
        return None
    if arguments.get("dtype"):
        return get_computation_dtype(arguments["dtype"])
    computed, result = elementwise_dtypes(*flat, type_promotion_kind=_KINDS[plan.promote])
    integral = not (result.is_floating_point or result.is_complex)
    return torch.int64 if plan.promote == "int_to_long" and integral else computed


def _abstract(value: Any) -> Any:
    if isinstance(value, list):
        return [_abstract(item) for item in value]
    if isinstance(value, torch.Tensor):
        return jax.ShapeDtypeStruct(tuple(value.shape), _NUMPY[value.dtype])
    dtype = jnp.int64 if isinstance(value, int) else jnp.float64
    return jax.ShapeDtypeStruct((), dtype, weak_type=True)


def _cast(value: Any, dtype: torch.dtype) -> Any:
    return [_cast(item, dtype) for item in value] if isinstance(value, list) else value.astype(_NUMPY[dtype])


def _static(value: Any, type_: str) -> Any:
    if type_ == "ScalarType" and value is not None:
        return _NUMPY[value if isinstance(value, torch.dtype) else torch.int64]  # the only default that schemas have
    return tuple(value) if isinstance(value, list) else value


def _rank(arguments: dict[str, Any]) -> int:
    return _flat(list(arguments.values()))[0].ndim


def _dims(value: Any, ndim: int) -> Any:
    if isinstance(value, int):
        return value % max(ndim, 1)
    return tuple(sorted(dim % ndim for dim in value)) if value else tuple(range(ndim))


def _flat(result: Any) -> list[torch.Tensor]:
    """The tensors in a result: one, several, or lists of them."""
    if isinstance(result, (tuple, list)):
        return [tensor for item in result for tensor in _flat(item)]
    return [result] if isinstance(result, torch.Tensor) else []


def _described(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in arguments.items())


def _value(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{_NUMPY[value.dtype]}{list(value.shape)}"
    return (
        f"[{', '.join(_value(item) for item in value)}]"
        if isinstance(value, list)
        else str(value).removeprefix("torch.")
    )
