"""The one table of fields: the loader, the JSON Schema, the documentation and did-you-mean are all made from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import yaml

from codegen.spec import model
from codegen.spec.shapes import Choice, Either, Many, Number, OneOrMany, Record, Shape, Table, Text, Yes

TEXT, NAME, NAMES = Text(), Text("a name"), Many(Text("a name"))
PROMOTIONS = ("none", "default", "int_to_float", "int_to_long", "bool", "complex_to_float")
DTYPE_SETS = {
    "float": ("f16", "bf16", "f32", "f64"),
    "int": ("u8", "i8", "i16", "i32", "i64"),
    "complex": ("c64", "c128"),
    "bool": ("bool",),
    "number": ("f16", "bf16", "f32", "f64", "u8", "i8", "i16", "i32", "i64"),
}
DTYPES = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "u8": "uint8",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "c64": "complex64",
    "c128": "complex128",
    "bool": "bool",
}
DTYPE_WORDS = (*DTYPE_SETS, *(dtype for dtype in DTYPES if dtype not in DTYPE_SETS))
CHECKS = ("values", "distribution", "invariants")
POLICIES = ("lower", "fp32", "promote", "fallthrough")


@dataclass(frozen=True)
class Field:
    """strategy: one of the fields that say how an op is computed, of which an entry has exactly one."""

    name: str
    shape: Shape
    doc: str
    default: str = ""
    strategy: bool = False


def _same(value: Any) -> Any:
    return value


def _tolerance() -> Shape:
    record = Record({"rtol": Number(), "atol": Number(), "reason": TEXT}, ("rtol",), model.Tolerance)
    return Either(((record, _same), (Number(), model.Tolerance)))


def _promote(table: dict[str, tuple[str, ...]]) -> model.Promote | None:
    return next((model.Promote(kind, args) for kind, args in table.items()), None)


def _either(shape: Shape, make: Callable[[Any], Any], other: Shape, make_other: Callable[[Any], Any] = _same) -> Either:
    return Either(((shape, make), (other, make_other)))


_TESTS = Record(
    {
        "opinfo": OneOrMany(NAME),
        "tol": Table(_tolerance(), DTYPE_WORDS),
        "skip": Table(Text("a reason")),
        "check": Choice(CHECKS),
        "samples": NAME,
    },
    make=model.Tests,
)

FIELDS: dict[str, Field] = {
    field.name: field
    for field in (
        Field("op", NAME, "the ATen overload that the group's author would name", "this or `custom`"),
        Field("custom", Text("a schema"), "the full schema of an op in namespace `tpu::`", "this or `op`"),
        Field("doc", TEXT, "one sentence on what is not plain", "required for `custom` and `pallas`"),
        Field(
            "lowering",
            Text("a dotted path"),
            "`jnp.x`, `lax.x`, `jsp.x` (jax.scipy.special), called with the tensors and Scalars in order; or "
            "`family.fn` in torchtpu/lowerings, called with every argument by name (`from` becomes `from_`)",
            strategy=True,
        ),
        Field("expr", Text("an expression"), "a JAX expression over the arguments, jnp, lax, jax, jsp", strategy=True),
        Field(
            "vjp",
            Record(
                {"of": Text("a dotted path"), "wrt": OneOrMany(NAME), "cotangent": OneOrMany(NAME), "mask": NAME},
                ("of", "wrt", "cotangent"),
                model.Vjp,
            ),
            "a backward op as jax.vjp of the forward lowering `of`",
            strategy=True,
        ),
        Field("decompose", Yes(), "torch's own decomposition, lowered as one program", strategy=True),
        Field(
            "pallas",
            Record(
                {"kernel": NAME, "when": NAME, "fallback": NAME, "tune": Table(Many(Number()))},
                ("kernel", "when", "fallback"),
                model.Pallas,
            ),
            "a kernel guarded by a pure predicate over shapes and dtypes; `fallback` is plain XLA and the oracle",
            strategy=True,
        ),
        Field(
            "native",
            _either(NAME, lambda fn: {"": fn}, Table(NAME)),
            "a C++ function of csrc/aten/native.h, or one for each overload: {overload: function}",
            strategy=True,
        ),
        Field(
            "promote",
            _either(
                Choice(PROMOTIONS),
                model.Promote,
                Record({kind: NAMES for kind in PROMOTIONS}),
                _promote,
            ),
            "the computation dtype, where it differs from what the inputs and the outputs imply; `{kind: [arguments]}` "
            "narrows the arguments that are promoted",
            "`default` if the op is tagged pointwise, else `none`; all tensors and traced Scalars",
        ),
        Field("dims", NAME, "the argument that becomes non-negative ints, None and [] meaning all dimensions"),
        Field("static", NAMES, "numbers that select a program", "int, bool, str, dtype"),
        Field("traced", NAMES, "arguments that never select a program", "Tensor, Scalar, float"),
        Field("positions", NAMES, "int arguments that are starts or indices: traced; the lengths are in the key"),
        Field(
            "specialize",
            Table(Many(Number())),
            "values of a traced number that get a program of their own, in which it is a Python number",
            "the schema's default",
        ),
        Field("mutates", NAMES, "arguments that are written though the schema does not say so"),
        Field("rng", Choice(("key",)), "the lowering takes a JAX key first", "required iff the op is seeded"),
        Field(
            "precision",
            Choice(("torch", "default", "high", "highest")),
            "of float32 matmuls",
            "`torch`: torch.get_float32_matmul_precision()",
        ),
        Field(
            "meta",
            Choice(("torch", "jax"), ("fix:",)),
            "who says what the outputs look like: torch's meta kernel, the lowering, or a named correction",
            "`torch`",
        ),
        Field(
            "memory_format",
            NAMES,
            "new results are channels-last where one of these arguments is, and contiguous otherwise; `[]`: always contiguous",
            "what torch's meta kernel says",
        ),
        Field(
            "layouts",
            NAMES,
            "tensor arguments of which the lowering is told whether they lie row by row in memory, by "
            "`<name>_is_contiguous`",
        ),
        Field("returns", NAMES, "the outputs that the lowering yields; others are undefined", "all"),
        Field(
            "sizes",
            _either(
                Choice(("meta",)),
                lambda _: model.Sizes(),
                Record({"key": Table(Text("an expression")), "data": Text("the largest size")}, make=model.Sizes),
            ),
            "`{key: {name: expression, ...}}`: sizes computed from scalars on every call, in the key, and handed to "
            "the lowering by name while the scalars stay traced; `{data: bound}`: the lowering returns outputs as "
            "`Padded(value, count, axis)`",
            "`meta`",
        ),
        Field("checks", NAMES, "C++ predicates of csrc/dispatch/checks.h over values that meta cannot see"),
        Field(
            "autocast",
            _either(
                Choice(POLICIES),
                model.Autocast,
                Record({"policy": Choice(POLICIES), "reason": TEXT}, ("policy",), model.Autocast),
            ),
            "what torch.autocast casts the op's tensors to: its own dtype, float32, the widest among them, or nothing; "
            "`{policy: ..., reason: ...}` where that is not what ATen does elsewhere",
            "what ATen's lists say; `fallthrough` for a custom op",
        ),
        Field(
            "autograd",
            Record({"saves": NAMES, "backward": NAME}, ("saves", "backward"), model.Autograd),
            "an own autograd formula, the only way to give a CompositeImplicit op one program",
        ),
        Field(
            "dtypes",
            _either(
                Many(Choice(DTYPE_WORDS)),
                model.Dtypes,
                Record({"only": Many(Choice(DTYPE_WORDS)), "reason": TEXT}, ("only",), model.Dtypes),
            ),
            "`{only: [...], reason: ...}`: sets (float, int, number, bool, complex) or dtypes (f32, bf16, ...) of what "
            "is promoted, or of the first tensor, and all floats; calls with others run on the CPU, counted, or raise",
            "all that torch CPU takes",
        ),
        Field(
            "variants",
            Record(
                {"except": NAMES, "reason": TEXT}, ("except", "reason"), model.Variants, rename={"except": "excluded"}
            ),
            "members of the group that are not registered",
            "all are",
        ),
        Field(
            "tests",
            _TESTS,
            "`opinfo` names; `tol` per dtype; `skip: {what: reason}`, strict xfails by test, by dtype or by both "
            "(`out/bf16`); `check`; `samples`, a function of tests/ops/samples.py",
            "OpInfos of the base name; values, at the tolerance of the dtype",
        ),
    )
}

STRATEGIES = tuple(field.name for field in FIELDS.values() if field.strategy)
ENTRY = Record({field.name: field.shape for field in FIELDS.values()})


EXCLUDED = Table(Text("a reason"))


@dataclass(frozen=True)
class DocumentKey:
    node: type[yaml.Node]
    expects: str
    required: bool = True


DOCUMENT_KEYS = {
    "torch": DocumentKey(yaml.ScalarNode, 'the minor version of torch that the entries are for, such as "2.13"'),
    "ops": DocumentKey(yaml.SequenceNode, "a list of entries"),
    "excluded": DocumentKey(
        yaml.MappingNode, "ops of torch's CPU that get no entry, as an entry would name them, with the reason", False
    ),
}


def json_schema() -> dict[str, Any]:
    """For editors: completion and a hover text for every field."""
    entry = ENTRY.json_schema()
    for name, field in FIELDS.items():
        described = field.doc + (f" (default: {field.default})" if field.default else "")
        entry["properties"][name] = {"description": described, **entry["properties"][name]}
    entry["oneOf"] = [{"required": ["op"]}, {"required": ["custom"]}]
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "ops.yaml of torchtpu",
        "type": "object",
        "properties": {
            "torch": {"type": "string", "description": DOCUMENT_KEYS["torch"].expects},
            "ops": {"type": "array", "description": DOCUMENT_KEYS["ops"].expects, "items": entry},
            "excluded": {"description": DOCUMENT_KEYS["excluded"].expects, **EXCLUDED.json_schema()},
        },
        "required": [name for name, key in DOCUMENT_KEYS.items() if key.required],
        "additionalProperties": False,
    }


def reference() -> str:
    """The field table as Markdown, for OPS.md."""
    rows = [f"| `{f.name}` | {f.shape.expects} | {f.doc} | {f.default} |" for f in FIELDS.values()]
    return "\n".join(["| field | value | meaning | default |", "|---|---|---|---|", *rows])
