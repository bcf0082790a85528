"""E2xx and W5xx: what an entry names, and what torch has."""

from expecttest import assert_expected_inline

from tests.codegen.specs import diagnose


def test_E201_no_such_overload() -> None:
    found = diagnose(
        """
        - op: add.tensor
          expr: self + alpha * other
        - op: erfinve
          lowering: jsp.erfinv
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:3:9: E201 'aten::add.tensor' is not an operator of torch 2.13; did you mean 'add.Tensor'?
  |
3 |   - op: add.tensor
  |         ^^^^^^^^^^
  = help: overloads of add: add.Tensor, add.Scalar
ops.yaml:5:9: E201 'aten::erfinve' is not an operator of torch 2.13; did you mean 'erfinv'?
  |
5 |   - op: erfinve
  |         ^^^^^^^""",
    )


def test_E201_not_a_member_of_the_group() -> None:
    found = diagnose(
        """
        - op: expm1
          lowering: jnp.expm1
          promote: int_to_float
          variants: {except: [expm1.uot], reason: to show it}
        - op: set_
          native: {set_: set_, sett_: set_}
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:6:25: E201 'expm1.uot' is not a member of the group of expm1; did you mean 'expm1.out'?
  |
6 |     variants: {except: [expm1.uot], reason: to show it}
  |                         ^^^^^^^^^
  = help: members: expm1, expm1.out, expm1_
ops.yaml:8:26: E201 'sett_' is not a member of the group of set_; did you mean 'set_'?
  |
8 |     native: {set_: set_, sett_: set_}
  |                          ^^^^^
  = help: members: set, set.out, set_""",
    )


def test_E201_bad_custom_schema() -> None:
    found = diagnose(
        """
        - custom: scale(Tensor self) -> Tensor
          doc: Lacks the namespace.
          expr: self
        - custom: tpu::scale(Tensor self)
          doc: Lacks the return.
          expr: self
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:3:13: E201 this is not the schema of a custom op: a custom op's schema starts with 'tpu::'
  |
3 |   - custom: scale(Tensor self) -> Tensor
  |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: such as: tpu::scale(Tensor self, float factor) -> Tensor
ops.yaml:6:13: E201 this is not the schema of a custom op: Invalid function schema: scale(Tensor self)
  |
6 |   - custom: tpu::scale(Tensor self)
  |             ^^^^^^^^^^^^^^^^^^^^^^^
  = help: such as: tpu::scale(Tensor self, float factor) -> Tensor""",
    )


def test_E202_derived_variant() -> None:
    found = diagnose(
        """
        - op: expm1
          lowering: jnp.expm1
          promote: int_to_float
        - op: expm1_
          lowering: jnp.expm1
          promote: int_to_float
        - op: add.out
          expr: self + alpha * other
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:6:9: E202 'expm1_' is a variant torch derives from 'expm1'
  |
6 |   - op: expm1_
  |         ^^^^^^
  = help: already covered by the entry at line 3; delete this one
ops.yaml:9:9: E202 'add.out' is a variant torch derives from 'add.Tensor'
  |
9 |   - op: add.out
  |         ^^^^^^^
  = help: write 'op: add.Tensor'; it registers add.Tensor, add.out, add_.Tensor""",
    )


def test_E203_listed_twice() -> None:
    found = diagnose(
        """
        - op: mm
          lowering: matmul.mm
        - op: mm
          expr: self @ mat2
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:5:9: E203 'mm' is listed twice (first at line 3)
  |
5 |   - op: mm
  |         ^^
  = help: keep one of the two""",
    )


def test_E204_loses_autograd() -> None:
    found = diagnose(
        """
        - op: layer_norm
          expr: input
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:3:9: E204 'layer_norm' is CompositeImplicit without a derivative formula: a kernel would lose its autograd
  |
3 |   - op: layer_norm
  |         ^^^^^^^^^^
  = help: give entries to the ops that it calls, which torch composes it of, or a formula under 'autograd'""",
    )


def test_E204_formula_that_torch_has() -> None:
    found = diagnose(
        """
        - op: mm
          lowering: matmul.mm
          autograd: {saves: [self, mat2], backward: "tpu::mm_backward"}
        - custom: "tpu::mm_backward(Tensor grad_output, Tensor self, Tensor mat2) -> (Tensor grad_self, Tensor grad_mat2)"
          doc: A gradient.
          expr: (self, mat2)
          meta: jax
        """
    )
    assert_expected_inline(found, """\
ops.yaml:5:5: E204 torch differentiates 'mm' itself: a formula of its own would hide torch's
  |
5 |     autograd: {saves: [self, mat2], backward: "tpu::mm_backward"}
  |     ^^^^^^^^
  = help: delete autograd""")


def test_E205_torch_pin() -> None:
    found = diagnose("- {op: mm, lowering: matmul.mm}", 'torch: "2.12"\nops:\n')
    assert_expected_inline(
        found,
        """\
ops.yaml:1:8: E205 the entries are for torch 2.12, but torch 2.13 is installed
  |
1 | torch: "2.12"
  |        ^^^^^^
  = help: install torch 2.12, or review the entries and change the pin""",
    )


def test_W501_backward_without_entry() -> None:
    found = diagnose(
        """
        - op: hardswish
          expr: self * jnp.clip(self + 3, 0, 6) / 6
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:3:9: W501 the derivative of hardswish calls 'hardswish_backward', which has no entry
  |
3 |   - op: hardswish
  |         ^^^^^^^^^
  = help: tools/regen new hardswish_backward""",
    )


def test_E204_spares_composites_with_a_formula() -> None:
    """native_layer_norm is CompositeImplicit, too, but torch differentiates it by a formula."""
    assert "E204" not in diagnose("- {op: native_layer_norm, lowering: norm.layer_norm}")


def test_W501_asks_for_no_composites() -> None:
    """The formula of neg calls a method, and nothing that needs an entry of its own."""
    assert diagnose("- {op: neg, lowering: jnp.negative}") == ""


def test_excluded_ops_exist_and_have_no_entry() -> None:
    found = diagnose(
        """
        - op: expm1
          lowering: jnp.expm1
          promote: int_to_float
        """,
        header='torch: "2.13"\nexcluded:\n  _fobar: a test\n  expm1: no reason at all\n  _foobar: ""\nops:\n',
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:3:3: E201 'aten::_fobar' is not an operator of torch 2.13; did you mean '_foobar'?
  |
3 |   _fobar: a test
  |   ^^^^^^
ops.yaml:5:3: E401 '_foobar' is excluded without a reason
  |
5 |   _foobar: ""
  |   ^^^^^^^
ops.yaml:7:9: E203 'expm1' has an entry, but 'excluded' says that it gets none (line 4)
  |
7 |   - op: expm1
  |         ^^^^^
  = help: keep one of the two""",
    )
