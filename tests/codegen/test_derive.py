"""What follows from an entry: variants, roles, promotion, tests."""

import pytest

from codegen.derive import Plan
from tests.codegen.specs import HEADER, context


def plan(entry: str) -> Plan:
    (made,) = context(f"{HEADER}  - {entry}\n").plans
    return made


def roles(entry: str, overload: str) -> dict[str, str]:
    registration = next(r for r in plan(entry).registrations if r.overload.name == overload)
    return {a.argument.name: a.role.value for a in registration.arguments}


@pytest.mark.parametrize(
    ("op", "members"),
    [
        ("expm1", ["expm1", "expm1.out", "expm1_"]),
        ("add.Tensor", ["add.Tensor", "add.out", "add_.Tensor"]),
        ("sum.dim_IntList", ["sum.dim_IntList", "sum.IntList_out"]),
        ("bernoulli.p", ["bernoulli.p", "bernoulli.float_out", "bernoulli_.float"]),  # no string rule finds these
        ("uniform_", ["uniform", "uniform.out", "uniform_"]),  # two of them torchgen made up
        ("_foreach_add.List", ["_foreach_add.List", "_foreach_add.List_out", "_foreach_add_.List"]),
        ("view", ["view"]),
    ],
)
def test_variants(op: str, members: list[str]) -> None:
    assert sorted(r.overload.name for r in plan(f"{{op: {op}, expr: self}}").registrations) == sorted(members)


def test_excluded_variants() -> None:
    made = plan("{op: expm1, expr: self, variants: {except: [expm1.out], reason: to show it}}")
    assert [r.overload.name for r in made.registrations] == ["expm1", "expm1_"]


def test_roles_of_the_variants() -> None:
    entry = "{op: add.Tensor, expr: self + alpha * other}"
    assert roles(entry, "add.Tensor") == {"self": "Read", "other": "Read", "alpha": "Traced"}
    assert roles(entry, "add_.Tensor") == {"self": "Write", "other": "Read", "alpha": "Traced"}
    assert roles(entry, "add.out") == {"self": "Read", "other": "Read", "alpha": "Traced", "out": "Write"}


def test_roles_by_type() -> None:
    assert roles("{op: uniform_, expr: self, rng: key}", "uniform_") == {
        "self": "Write",
        "from": "Traced",
        "to": "Traced",
        "generator": "Generator",
    }
    assert roles("{op: full, expr: fill_value}", "full") == {
        "size": "Static",
        "fill_value": "Traced",
        "dtype": "Static",
        "layout": "Ignored",
        "device": "Ignored",
        "pin_memory": "Ignored",
    }
    assert roles("{op: clone, expr: self}", "clone") == {
        "self": "Read",
        "memory_format": "Static",  # it decides the strides of the output
    }


def test_roles_that_are_written() -> None:
    entry = "{op: select_backward, expr: grad_output, positions: [index]}"
    assert roles(entry, "select_backward")["index"] == "Traced"
    assert roles("{op: elu, expr: self, static: [alpha]}", "elu")["alpha"] == "Static"
    assert roles("{op: roll, expr: self, traced: [shifts]}", "roll")["shifts"] == "Traced"
    batch_norm = roles("{op: native_batch_norm, expr: input, mutates: [running_mean]}", "native_batch_norm")
    assert batch_norm["running_mean"] == "Write" and batch_norm["running_var"] == "Read"


@pytest.mark.parametrize(
    ("entry", "argument", "values"),
    [
        ("{op: add.Tensor, expr: self}", "alpha", (1,)),
        ("{op: pow.Tensor_Scalar, expr: self, specialize: {exponent: [2, 0.5]}}", "exponent", (2, 0.5)),
        ("{op: add.Tensor, expr: self, specialize: {alpha: [1, -1]}}", "alpha", (1, -1)),
        ("{op: add.Tensor, expr: self, static: [alpha]}", "alpha", ()),  # every value has its own anyway
        ("{op: isclose, expr: self, traced: [equal_nan]}", "equal_nan", ()),  # False is not a number
    ],
)
def test_specialized_values(entry: str, argument: str, values: tuple[float, ...]) -> None:
    assert next(a.specialize for a in plan(entry).arguments if a.argument.name == argument) == values


def test_promotion() -> None:
    assert (plan("{op: expm1, expr: self}").promote, plan("{op: mm, expr: self}").promote) == ("default", "none")
    assert plan("{op: add.Tensor, expr: self}").promoted == ("self", "other", "alpha")
    assert plan("{op: add.Tensor, expr: self, static: [alpha]}").promoted == ("self", "other")
    assert plan("{op: add.Tensor, expr: self, promote: {bool: [other]}}").promoted == ("other",)
    assert plan("{op: add.Tensor, expr: self, promote: none}").promoted == ()


def test_parameters_of_a_lowering() -> None:
    assert plan("{op: uniform_, expr: self, rng: key}").parameters == ("key", "self", "from_", "to")
    assert plan("{op: full, expr: fill_value}").parameters == ("size", "fill_value", "dtype")
    attention = plan("{op: _scaled_dot_product_fused_attention_overrideable, expr: query, rng: key}")
    assert attention.parameters[:3] == ("rng_key", "query", "key")
    sized = plan("{op: arange.start_step, expr: start, sizes: {key: {length: end - start}}}")
    assert sized.parameters[-1] == "length"
    twice = plan("{op: arange.start_step, expr: start, sizes: {key: {length: end - start, first: start}}}")
    assert twice.parameters[-2:] == ("length", "first")


def test_native_members() -> None:
    assert [(o.name, f) for o, f in plan("{op: as_strided, native: f}").native] == [("as_strided", "f")]
    assert [(o.name, f) for o, f in plan("{op: set_, native: {set_: f, set.out: g}}").native] == [
        ("set.out", "g"),
        ("set_", "f"),
    ]
    assert plan("{op: as_strided, native: f}").registrations == ()


def test_test_plan() -> None:
    assert plan("{op: expm1, expr: self}").tests.names == (
        "values",
        "second_call_hits",
        "lowering_ran",
        "noncontiguous",
        "zero_size",
        "out",
        "inplace",
        "backward",
    )
    assert "noncontiguous" not in plan("{op: full, expr: fill_value}").tests.names
    assert "inplace" not in plan("{op: mm, expr: self}").tests.names
    distribution = plan("{op: uniform_, expr: self, rng: key, tests: {check: distribution}}")
    assert distribution.tests.names == ("distribution", "calls_differ", "seed_repeats")
    checked = plan("{op: uniform_, expr: self, rng: key, checks: [uniform_bounds], tests: {check: distribution}}")
    assert checked.tests.names == (*distribution.tests.names, "checks")
    assert plan("{op: add.Tensor, expr: self, checks: [alpha_matches_dtype]}").tests.names[-1] == "checks"
    narrowed = plan("{op: mm, expr: self, dtypes: {only: [f32, bool], reason: to show it}}")
    assert narrowed.dtypes == ("float32", "bool")


def test_shards_depend_on_the_name_alone() -> None:
    assert [plan(f"{{op: {op}, expr: self}}").shard for op in ("log", "expm1", "tanh", "sin")] == [0, 1, 2, 3]
