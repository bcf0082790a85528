"""What the miss path knows about an entry of ops.yaml: the rows of the generated lowering table."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Param:
    """One argument of the author member's schema, under its Python name (`from` is `from_`)."""

    name: str
    type: str  # the schema's type: "Tensor", "Tensor?", "Tensor[]", "Scalar", "int[]", "ScalarType?", ...
    traced: bool


@dataclass(frozen=True)
class Entry:
    """One entry of ops.yaml, with everything that was derived from it and that tracing needs.

    lowering: a pure function of keyword arguments named as in `params`, preceded by `key` when `rng`; None if `decompose`.
    promote: one of none, default, int_to_float, int_to_long, bool, complex_to_float.
    promoted: the tensor and Scalar arguments that `promote` brings to the computation dtype; () when it is none.
    dims: the argument that is normalised to non-negative ints (None and [] mean all), or None.
    key_sizes: the sizes that are in the key (`sizes: {key: {name: expr}}`): the lowering receives each under its name.
    data_sizes: for `sizes: {data: ...}`: outputs of the lowering are Padded.
    mutates: arguments that the op writes though its schema does not say so; their new values follow the outputs.
    memory_format: arguments of which one in channels-last order makes new results so, others being contiguous; None leaves that to
        torch's meta kernel.
    layouts: tensors of which the lowering is told, by `<name>_is_contiguous`, whether they lie row by row in memory.
    structured: one kernel of PyTorch's lays out both a new result and a resized out=.
    returns: the names of the schema's returns that the lowering yields, or None for all.
    dtypes: the names of the dtypes that the device computes, or None for all; dtypes_reason: why not the others.
    """

    name: str
    params: tuple[Param, ...]
    lowering: Callable | None
    decompose: bool = False
    promote: str = "none"
    promoted: tuple[str, ...] = ()
    dims: str | None = None
    rng: bool = False
    precision: str = "torch"
    meta: str = "torch"
    key_sizes: tuple[str, ...] = ()
    data_sizes: bool = False
    mutates: tuple[str, ...] = ()
    memory_format: tuple[str, ...] | None = None
    layouts: tuple[str, ...] = ()
    returns: tuple[str, ...] | None = None
    structured: bool = False
    dtypes: tuple[str, ...] | None = None
    dtypes_reason: str = ""
