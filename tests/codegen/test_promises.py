"""E401: what needs a reason."""

from expecttest import assert_expected_inline

from tests.codegen.specs import diagnose


def test_E401_loose_tolerance() -> None:
    found = diagnose(
        """
        - op: mm
          lowering: matmul.mm
          tests: {tol: {f32: 1.0, bf16: 2e-2, f64: {rtol: 1e-9, atol: 0.1}}}
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:5:24: E401 tolerance 1 for f32 is looser than 0.0001
  |
5 |     tests: {tol: {f32: 1.0, bf16: 2e-2, f64: {rtol: 1e-9, atol: 0.1}}}
  |                        ^^^
  = help: write {rtol: ..., reason: '...'}: say why
ops.yaml:5:46: E401 tolerance 0.1 for f64 is looser than 1e-06
  |
5 |     tests: {tol: {f32: 1.0, bf16: 2e-2, f64: {rtol: 1e-9, atol: 0.1}}}
  |                                              ^^^^^^^^^^^^^^^^^^^^^^^
  = help: write {rtol: ..., reason: '...'}: say why""",
    )


def test_E401_skip_without_reason() -> None:
    found = diagnose(
        """
        - op: mm
          lowering: matmul.mm
          tests: {skip: {backward: "", out/bf16: rounds twice on the CPU}}
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:5:30: E401 skipping 'backward' needs a reason
  |
5 |     tests: {skip: {backward: "", out/bf16: rounds twice on the CPU}}
  |                              ^^
  = help: say why, in a few words""",
    )


def test_E401_narrowed_dtypes() -> None:
    found = diagnose(
        """
        - op: mm
          lowering: matmul.mm
          dtypes: [float]
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:5:13: E401 'mm' narrows its dtypes without a reason
  |
5 |     dtypes: [float]
  |             ^^^^^^^
  = help: write dtypes: {only: [...], reason: '...'}, or leave it out: the default is all that torch CPU takes""",
    )


def test_E401_another_autocast_policy() -> None:
    found = diagnose(
        """
        - op: mm
          lowering: matmul.mm
          autocast: fp32
        - custom: "tpu::scale(Tensor self, float factor) -> Tensor"
          doc: ATen has no policy for it.
          expr: self * factor
          autocast: fp32
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:5:15: E401 'mm' leaves ATen's autocast policy without a reason
  |
5 |     autocast: fp32
  |               ^^^^
  = help: write autocast: {policy: fp32, reason: '...'}""",
    )


def test_E401_is_satisfied_by_a_reason() -> None:
    found = diagnose(
        """
        - op: mm
          lowering: matmul.mm
          dtypes: {only: [float], reason: nothing else is multiplied}
          autocast: {policy: fp32, reason: to see the difference}
          tests: {tol: {f32: {rtol: 0.1, reason: one pass of bfloat16}}}
        """
    )
    assert found == ""
