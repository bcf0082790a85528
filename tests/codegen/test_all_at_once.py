"""One run reports everything, in the order of the file."""

from expecttest import assert_expected_inline

from tests.codegen.specs import diagnose


def test_all_errors_at_once() -> None:
    found = diagnose(
        """
        - op: expm1
          lowring: jnp.expm1
          dtypes: [float]
        - op: add.tensor
          expr: self + aplha * other
          promote: int_to_flaot
        - op: add.Tensor
          expr: self + aplha * other
        - op: expm1_
          lowering: jnp.expm1
        - op: layer_norm
          lowering: norm.layer_norm
        - op: mm
          lowering: matmul.mm
          decompose: true
        - op: native_layer_norm_backward
          vjp: {of: norm.layer_norm, cotangent: grad_out, wrt: [input, weight, bias], mask: output_mask}
        - op: sum.dim_IntList
          lowering: reduction.sum_without_dtype
          tests: {tol: {f32: 1.0}}
        """
    )
    first_lines = "\n".join(line for line in found.splitlines() if line.startswith("ops.yaml:"))
    assert_expected_inline(
        first_lines,
        """\
ops.yaml:4:5: E101 unknown field 'lowring' in op 'expm1'; did you mean 'lowering'?
ops.yaml:5:13: E401 'expm1' narrows its dtypes without a reason
ops.yaml:6:9: E201 'aten::add.tensor' is not an operator of torch 2.13; did you mean 'add.Tensor'?
ops.yaml:8:14: E102 'int_to_flaot' is not a value of 'promote' of op 'add.tensor'; did you mean 'int_to_float'?
ops.yaml:10:18: E303 'aplha' is not an argument of add.Tensor; did you mean 'alpha'?
ops.yaml:11:9: E202 'expm1_' is a variant torch derives from 'expm1'
ops.yaml:13:9: E204 'layer_norm' is CompositeImplicit without a derivative formula: a kernel would lose its autograd
ops.yaml:14:15: E302 norm.layer_norm(input, normalized_shape, weight, bias, eps) cannot be called as layer_norm: no parameter 'cudnn_enable'
ops.yaml:17:5: E103 op 'mm' has 2 implementations: 'lowering' and 'decompose'
ops.yaml:19:15: E304 vjp of norm.layer_norm needs 'eps', which 'native_layer_norm_backward' does not receive
ops.yaml:21:15: E302 reduction.sum_without_dtype(self, dim, keepdim) cannot be called as sum.dim_IntList: no parameter 'dtype'
ops.yaml:22:24: E401 tolerance 1 for f32 is looser than 0.0001""",
    )
