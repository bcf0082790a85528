"""E305 and E307: what running decompositions and lowerings shows."""

from pathlib import Path

import pytest
import torch
from expecttest import assert_expected_inline

from codegen.cache import Verdicts
from codegen.probe import decomposition
from tests.codegen.specs import diagnose


def test_E305_reaches_ops_without_entries() -> None:
    found = diagnose(
        """
        - op: hardswish
          decompose: true
        - op: hardswish_backward
          expr: grad_output
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:16: E305 the decomposition of hardswish reaches 'add.Tensor', which has no entry
  |
4 |     decompose: true
  |                ^^^^
  = help: tools/regen new add.Tensor
ops.yaml:4:16: E305 the decomposition of hardswish reaches 'clamp', which has no entry
  |
4 |     decompose: true
  |                ^^^^
  = help: tools/regen new clamp
ops.yaml:4:16: E305 the decomposition of hardswish reaches 'div.Tensor', which has no entry
  |
4 |     decompose: true
  |                ^^^^
  = help: tools/regen new div.Tensor
ops.yaml:4:16: E305 the decomposition of hardswish reaches 'mul.Tensor', which has no entry
  |
4 |     decompose: true
  |                ^^^^
  = help: tools/regen new mul.Tensor""",
    )


def test_E305_cyclic(monkeypatch: pytest.MonkeyPatch) -> None:
    op = torch.ops.aten.hardswish.default
    monkeypatch.setitem(decomposition.decomposition_table, op, lambda self: op(self) + 1)
    found = diagnose(
        """
        - op: hardswish
          decompose: true
        - op: hardswish_backward
          expr: grad_output
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:16: E305 the decomposition of hardswish is cyclic
  |
4 |     decompose: true
  |                ^^^^
  = help: write a 'lowering' or an 'expr'""",
    )


def test_E305_missing() -> None:
    found = diagnose(
        """
        - op: mm
          decompose: true
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:16: E305 the decomposition of mm is missing
  |
4 |     decompose: true
  |                ^^^^
  = help: write a 'lowering' or an 'expr'""",
    )


def test_E307_wrong_shape() -> None:
    found = diagnose(
        """
        - op: sum.dim_IntList
          lowering: reduction.sum_flat
          dims: dim
          promote: int_to_long
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:15: E307 sum.dim_IntList: for (self=float32[2, 3], dim=[0]) the lowering returns float32[], torch float32[3]
  |
4 |     lowering: reduction.sum_flat
  |               ^^^^^^^^^^^^^^^^^^
  = help: schema: sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor""",
    )


def test_E307_wrong_dtype() -> None:
    found = diagnose(
        """
        - op: mm
          lowering: matmul.mm_in_float64
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:15: E307 mm: for (self=float32[3, 3], mat2=float32[3, 3]) the lowering returns float64[3, 3], torch float32[3, 3]
  |
4 |     lowering: matmul.mm_in_float64
  |               ^^^^^^^^^^^^^^^^^^^^
  = help: schema: mm(Tensor self, Tensor mat2) -> Tensor""",
    )


def test_E307_lowering_raises() -> None:
    found = diagnose(
        """
        - op: mm
          lowering: matmul.mm_that_raises
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:15: E307 mm: for (self=float32[3, 3], mat2=float32[3, 3]) the lowering raises ValueError: no such product
  |
4 |     lowering: matmul.mm_that_raises
  |               ^^^^^^^^^^^^^^^^^^^^^
  = help: schema: mm(Tensor self, Tensor mat2) -> Tensor""",
    )


def test_E307_wrong_number_of_outputs() -> None:
    found = diagnose(
        """
        - op: _softmax
          expr: (self, self)
        - op: _softmax_backward_data
          expr: grad_output
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:11: E307 _softmax: for (self=float32[2, 3], dim=0, half_to_float=False) the lowering returns 2 outputs, torch 1
  |
4 |     expr: (self, self)
  |           ^^^^^^^^^^^^
  = help: schema: _softmax(Tensor self, int dim, bool half_to_float) -> Tensor
ops.yaml:6:11: E307 _softmax_backward_data: for (grad_output=bfloat16[2, 3], output=bfloat16[2, 3], dim=0, input_dtype=float32) the lowering returns bfloat16[2, 3], torch float32[2, 3]
  |
6 |     expr: grad_output
  |           ^^^^^^^^^^^
  = help: schema: _softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor""",
    )


def test_verdicts_are_remembered(tmp_path: Path) -> None:
    file = tmp_path / "cache.json"
    asked = []

    def find() -> list[str]:
        asked.append(1)
        return ["wrong"]

    for parts, times in ((["a", "b"], 1), (["a", "b"], 1), (["ab", ""], 2)):
        verdicts = Verdicts(file)
        assert verdicts.get(parts, find) == ["wrong"]
        verdicts.save()
        assert len(asked) == times
    file.write_text("not JSON")
    assert Verdicts(file).get(["a", "b"], find) == ["wrong"]
