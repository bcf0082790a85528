"""E301 to E304 and E306: what an entry is implemented by."""

from expecttest import assert_expected_inline

from tests.codegen.specs import diagnose


def test_E301_not_importable() -> None:
    found = diagnose(
        """
        - op: expm1
          lowering: jnp.expm2
          promote: int_to_float
        - op: mm
          lowering: matml.mm
        - op: bmm
          lowering: matmul.bmm
        - op: exp
          lowering: exp
        - op: log
          lowering: broken.log
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:15: E301 jax.numpy has no 'expm2'; did you mean 'exp2'?
  |
4 |     lowering: jnp.expm2
  |               ^^^^^^^^^
ops.yaml:7:15: E301 there is no family 'matml' in tests.codegen.lowerings; did you mean 'matmul'?
  |
7 |     lowering: matml.mm
  |               ^^^^^^^^
ops.yaml:9:15: E301 tests.codegen.lowerings.matmul has no 'bmm'; did you mean 'mm'?
  |
9 |     lowering: matmul.bmm
  |               ^^^^^^^^^^
ops.yaml:11:15: E301 'exp' is not a dotted path
   |
11 |     lowering: exp
   |               ^^^
   = help: write jnp.x, lax.x, jsp.x or family.function
ops.yaml:13:15: E301 tests.codegen.lowerings.broken does not import: No module named 'no_such_module'
   |
13 |     lowering: broken.log
   |               ^^^^^^^^^^""",
    )


def test_E301_no_such_check_or_native_function() -> None:
    found = diagnose(
        """
        - op: add.Tensor
          expr: self + alpha * other
          checks: [alpha_matches_dtypes, commented_out]
        - op: as_strided
          native: as_stridde
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:5:14: E301 csrc/dispatch/checks.h declares no 'alpha_matches_dtypes'; did you mean 'alpha_matches_dtype'?
  |
5 |     checks: [alpha_matches_dtypes, commented_out]
  |              ^^^^^^^^^^^^^^^^^^^^
  = help: declare it: bool alpha_matches_dtypes(c10::ArrayRef<c10::IValue> args);
ops.yaml:5:36: E301 csrc/dispatch/checks.h declares no 'commented_out'
  |
5 |     checks: [alpha_matches_dtypes, commented_out]
  |                                    ^^^^^^^^^^^^^
  = help: declare it: bool commented_out(c10::ArrayRef<c10::IValue> args);
ops.yaml:7:13: E301 csrc/aten/native.h declares no 'as_stridde'; did you mean 'as_strided'?
  |
7 |     native: as_stridde
  |             ^^^^^^^^^^""",
    )


def test_E302_lowering_lacks_a_parameter() -> None:
    found = diagnose(
        """
        - op: sum.dim_IntList
          lowering: reduction.sum_without_dtype
          promote: int_to_long
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:15: E302 reduction.sum_without_dtype(self, dim, keepdim) cannot be called as sum.dim_IntList: no parameter 'dtype'
  |
4 |     lowering: reduction.sum_without_dtype
  |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: schema: sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor""",
    )


def test_E302_lowering_requires_more() -> None:
    found = diagnose(
        """
        - op: sum.dim_IntList
          lowering: reduction.sum_along
          promote: int_to_long
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:15: E302 reduction.sum_along(self, dim, keepdim, dtype, axis) cannot be called as sum.dim_IntList: it requires 'axis', which the op does not have
  |
4 |     lowering: reduction.sum_along
  |               ^^^^^^^^^^^^^^^^^^^
  = help: schema: sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor""",
    )


def test_E302_library_function_would_lose_arguments() -> None:
    found = diagnose(
        """
        - op: sum.dim_IntList
          lowering: jnp.sum
          promote: int_to_long
        - op: add.Tensor
          lowering: jnp.sign
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:15: E302 jnp.sum cannot be called as sum.dim_IntList: it would not receive 'dim', 'keepdim' and 'dtype'
  |
4 |     lowering: jnp.sum
  |               ^^^^^^^
  = help: schema: sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
ops.yaml:7:15: E302 jnp.sign cannot be called as add.Tensor: too many positional arguments
  |
7 |     lowering: jnp.sign
  |               ^^^^^^^^
  = help: schema: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor""",
    )


def test_E303_unknown_name_in_expression() -> None:
    found = diagnose(
        """
        - op: add.Tensor
          expr: self + aplha * other
        - op: sub.Tensor
          expr: "self - [alpha * x for x in othr]"
        - op: mul.Tensor
          expr: self *
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:18: E303 'aplha' is not an argument of add.Tensor; did you mean 'alpha'?
  |
4 |     expr: self + aplha * other
  |                  ^^^^^
  = help: schema: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
ops.yaml:6:11: E303 'othr' is not an argument of sub.Tensor; did you mean 'other'?
  |
6 |     expr: "self - [alpha * x for x in othr]"
  |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: schema: sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
ops.yaml:8:11: E303 this is not a Python expression: invalid syntax
  |
8 |     expr: self *
  |           ^^^^^^
  = help: schema: mul.Tensor(Tensor self, Tensor other) -> Tensor""",
    )


def test_E303_unknown_argument() -> None:
    found = diagnose(
        """
        - op: sum.dim_IntList
          lowering: reduction.sum
          dims: dims
          promote: {int_to_long: [selv]}
          static: [keepdims]
          specialize: {dtipe: [1]}
        - op: native_layer_norm
          lowering: norm.layer_norm
          returns: [rstd]
        - op: linalg_slogdet
          expr: self
          returns: [sign, logdet]
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:5:11: E303 'dims' is not an argument of sum.dim_IntList; did you mean 'dim'?
  |
5 |     dims: dims
  |           ^^^^
  = help: schema: sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
ops.yaml:6:29: E303 'selv' is not an argument of sum.dim_IntList; did you mean 'self'?
  |
6 |     promote: {int_to_long: [selv]}
  |                             ^^^^
  = help: schema: sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
ops.yaml:7:14: E303 'keepdims' is not an argument of sum.dim_IntList; did you mean 'keepdim'?
  |
7 |     static: [keepdims]
  |              ^^^^^^^^
  = help: schema: sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
ops.yaml:8:25: E303 'dtipe' is not an argument of sum.dim_IntList; did you mean 'dtype'?
  |
8 |     specialize: {dtipe: [1]}
  |                         ^^^
  = help: schema: sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
ops.yaml:9:9: W501 the derivative of native_layer_norm calls 'native_layer_norm_backward', which has no entry
  |
9 |   - op: native_layer_norm
  |         ^^^^^^^^^^^^^^^^^
  = help: tools/regen new native_layer_norm_backward
ops.yaml:11:15: E303 'rstd' is not a return of native_layer_norm
   |
11 |     returns: [rstd]
   |               ^^^^
   = help: schema: native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)
ops.yaml:12:9: E204 'linalg_slogdet' is CompositeImplicit without a derivative formula: a kernel would lose its autograd
   |
12 |   - op: linalg_slogdet
   |         ^^^^^^^^^^^^^^
   = help: give entries to the ops that it calls, which torch composes it of, or a formula under 'autograd'
ops.yaml:13:11: E303 'self' is not an argument of linalg_slogdet
   |
13 |     expr: self
   |           ^^^^
   = help: schema: linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)
ops.yaml:14:21: E303 'logdet' is not a return of linalg_slogdet; did you mean 'logabsdet'?
   |
14 |     returns: [sign, logdet]
   |                     ^^^^^^
   = help: schema: linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)""",
    )


def test_E303_size_that_is_not_computable() -> None:
    found = diagnose(
        """
        - op: arange.start_step
          expr: jnp.arange(length) * step + start
          sizes: {key: {length: ceil((stop - start) / step)}}
        - op: linspace
          expr: jnp.arange(length) + start
          sizes: {key: {length: steps ** 2}}
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:5:27: E303 'stop' is not a number that arange.start_step receives; did you mean 'step'?
  |
5 |     sizes: {key: {length: ceil((stop - start) / step)}}
  |                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: schema: arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
ops.yaml:8:27: E303 'steps ** 2' cannot be computed for the key; use ceil, floor, abs, max, min, + - * /
  |
8 |     sizes: {key: {length: steps ** 2}}
  |                           ^^^^^^^^^^
  = help: schema: linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor""",
    )


def test_E303_name_of_a_size() -> None:
    found = diagnose(
        """
        - op: arange.start_step
          expr: jnp.arange(end) * step + start
          sizes: {key: {end: ceil(end / step), 2nd: start}}
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:5:19: E303 'end' cannot name a size of arange.start_step: the lowering receives it as a new parameter
  |
5 |     sizes: {key: {end: ceil(end / step), 2nd: start}}
  |                   ^^^
  = help: schema: arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
ops.yaml:5:42: E303 '2nd' cannot name a size of arange.start_step: the lowering receives it as a new parameter
  |
5 |     sizes: {key: {end: ceil(end / step), 2nd: start}}
  |                                          ^^^
  = help: schema: arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor""",
    )


def test_E304_vjp_needs_what_the_backward_lacks() -> None:
    found = diagnose(
        """
        - op: native_layer_norm_backward
          vjp: {of: norm.layer_norm, cotangent: grad_out, wrt: [input, weight, bias], mask: output_mask}
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:15: E304 vjp of norm.layer_norm needs 'eps', which 'native_layer_norm_backward' does not receive
  |
4 |     vjp: {of: norm.layer_norm, cotangent: grad_out, wrt: [input, weight, bias], mask: output_mask}
  |               ^^^^^^^^^^^^^^^
  = help: point 'of' at a function of (input, normalized_shape, mean, rstd, weight, bias)""",
    )


def test_E304_unknown_names() -> None:
    found = diagnose(
        """
        - op: native_layer_norm_backward
          vjp: {of: norm.layer_norm_from_stats, cotangent: grad_output, wrt: [inptu], mask: mask}
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:54: E304 'grad_output' is not an argument of native_layer_norm_backward; did you mean 'grad_out'?
  |
4 |     vjp: {of: norm.layer_norm_from_stats, cotangent: grad_output, wrt: [inptu], mask: mask}
  |                                                      ^^^^^^^^^^^
  = help: schema: native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)
ops.yaml:4:73: E304 'inptu' is not a parameter of norm.layer_norm_from_stats; did you mean 'input'?
  |
4 |     vjp: {of: norm.layer_norm_from_stats, cotangent: grad_output, wrt: [inptu], mask: mask}
  |                                                                         ^^^^^
  = help: schema: native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)
ops.yaml:4:87: E304 'mask' is not an argument of native_layer_norm_backward
  |
4 |     vjp: {of: norm.layer_norm_from_stats, cotangent: grad_output, wrt: [inptu], mask: mask}
  |                                                                                       ^^^^
  = help: schema: native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)""",
    )


def test_E306_random_without_key() -> None:
    found = diagnose(
        """
        - op: uniform_
          expr: self
        - op: expm1
          expr: jnp.expm1(self)
          promote: int_to_float
          rng: key
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:3:9: E306 'uniform_' draws random numbers; its entry has no 'rng: key'
  |
3 |   - op: uniform_
  |         ^^^^^^^^
  = help: add rng: key
ops.yaml:8:10: E306 'expm1' draws no random numbers: torch does not tag it nondeterministic_seeded
  |
8 |     rng: key
  |          ^^^
  = help: delete rng""",
    )


def test_E306_makes_its_own_key() -> None:
    found = diagnose(
        """
        - op: uniform_
          lowering: random.uniform_forever
          rng: key
        - op: exponential_
          expr: jax.random.exponential(jax.random.key(0), self.shape)
          rng: key
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:15: E306 random.uniform_forever makes its own random key (jax.random.PRNGKey)
  |
4 |     lowering: random.uniform_forever
  |               ^^^^^^^^^^^^^^^^^^^^^^
  = help: take the parameter 'key' and write rng: key
ops.yaml:7:11: E306 the expression makes its own random key (jax.random.key)
  |
7 |     expr: jax.random.exponential(jax.random.key(0), self.shape)
  |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: use the name 'key'""",
    )


def test_E301_parts_of_a_kernel() -> None:
    found = diagnose(
        """
        - op: mm
          doc: A kernel.
          pallas: {kernel: matmul.tile, when: matmul.mm, fallback: matmul.tiled}
        """
    )
    assert_expected_inline(found, """\
ops.yaml:5:22: E301 tests.codegen.kernels.matmul has no 'tile'; did you mean 'tiled'?
  |
5 |     pallas: {kernel: matmul.tile, when: matmul.mm, fallback: matmul.tiled}
  |                      ^^^^^^^^^^^
ops.yaml:5:41: E301 tests.codegen.kernels.matmul has no 'mm'
  |
5 |     pallas: {kernel: matmul.tile, when: matmul.mm, fallback: matmul.tiled}
  |                                         ^^^^^^^^^
ops.yaml:5:62: E301 tests.codegen.lowerings.matmul has no 'tiled'
  |
5 |     pallas: {kernel: matmul.tile, when: matmul.mm, fallback: matmul.tiled}
  |                                                              ^^^^^^^^^^^^""")


def test_E302_kernel_without_its_tuning() -> None:
    found = diagnose(
        """
        - op: mm
          doc: A kernel.
          pallas: {kernel: matmul.untuned, when: matmul.applies, fallback: matmul.mm, tune: {block: [128]}}
        """
    )
    assert_expected_inline(found, """\
ops.yaml:5:22: E302 matmul.untuned(self, mat2) cannot be called as mm: no parameter 'block'
  |
5 |     pallas: {kernel: matmul.untuned, when: matmul.applies, fallback: matmul.mm, tune: {block: [128]}}
  |                      ^^^^^^^^^^^^^^
  = help: schema: mm(Tensor self, Tensor mat2) -> Tensor""")


def test_E301_backward_without_entry() -> None:
    found = diagnose(
        """
        - op: gru_cell
          expr: hx
          autograd: {saves: [input], backward: "tpu::gru_backward"}
        """
    )
    assert_expected_inline(found, """\
ops.yaml:5:42: E301 the backward op 'tpu::gru_backward' has no entry
  |
5 |     autograd: {saves: [input], backward: "tpu::gru_backward"}
  |                                          ^^^^^^^^^^^^^^^^^^^
  = help: such as: custom: tpu::name_backward(Tensor grad_output, ...) -> (Tensor grad_self, ...)""")


def _formula(saves: str, backward: str) -> str:
    """What the rules say about a formula that saves these and has this backward op."""
    return diagnose(
        f"""
        - op: gru_cell
          expr: hx
          dtypes: {{only: [float], reason: shows a formula}}
          autograd: {{saves: [{saves}], backward: "tpu::gru_backward"}}
        - custom: "tpu::gru_backward{backward}"
          doc: A gradient.
          expr: input
          meta: jax
        """
    )


def test_E304_formula_saves_what_is_not_there() -> None:
    found = _formula("input, hidden", "(Tensor grad_output, Tensor input) -> Tensor grad_input")
    assert_expected_inline(found, """\
ops.yaml:6:31: E304 'hidden' is neither a tensor argument nor an output of gru_cell
  |
6 |     autograd: {saves: [input, hidden], backward: "tpu::gru_backward"}
  |                               ^^^^^^
  = help: schema: gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor""")


def test_E304_formula_saves_for_nothing() -> None:
    found = _formula("input, hx", "(Tensor grad_output, Tensor input) -> Tensor grad_input")
    assert_expected_inline(found, """\
ops.yaml:6:31: E304 tpu::gru_backward does not take 'hx', which is saved for it
  |
6 |     autograd: {saves: [input, hx], backward: "tpu::gru_backward"}
  |                               ^^
  = help: schema: gru_backward(Tensor grad_output, Tensor input) -> Tensor grad_input""")


def test_E304_formula_does_not_save() -> None:
    found = _formula("input", "(Tensor grad_output, Tensor input, Tensor hx) -> Tensor grad_input")
    assert_expected_inline(found, """\
ops.yaml:6:42: E304 tpu::gru_backward needs 'hx', which the formula of 'gru_cell' does not have
  |
6 |     autograd: {saves: [input], backward: "tpu::gru_backward"}
  |                                          ^^^^^^^^^^^^^^^^^^^
  = help: it has: grad_output, input, output_mask""")


def test_E304_formula_of_a_gradient_of_nothing() -> None:
    found = _formula("input", "(Tensor grad_output, Tensor input) -> Tensor grad")
    assert_expected_inline(found, """\
ops.yaml:6:42: E304 an output of tpu::gru_backward 'grad' is not the gradient of an argument of 'gru_cell'
  |
6 |     autograd: {saves: [input], backward: "tpu::gru_backward"}
  |                                          ^^^^^^^^^^^^^^^^^^^
  = help: name its outputs: grad_input, grad_hx, grad_w_ih, grad_w_hh, grad_b_ih, grad_b_hh""")
