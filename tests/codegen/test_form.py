"""E0xx and E1xx: the form of ops.yaml."""

from expecttest import assert_expected_inline

from tests.codegen.specs import diagnose


def test_E001_not_yaml() -> None:
    found = diagnose("- op: [expm1")
    assert_expected_inline(
        found,
        """\
ops.yaml:4:1: E001 this is not YAML: expected ',' or ']', but got '<stream end>' while parsing a flow sequence
  |
4 | 
  | ^""",
    )


def test_E001_duplicate_key() -> None:
    found = diagnose(
        """
        - op: expm1
          lowering: jnp.exp
          promote: int_to_float
          lowering: jnp.expm1
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:6:5: E001 duplicate key 'lowering' in op 'expm1' (first at line 4)
  |
6 |     lowering: jnp.expm1
  |     ^^^^^^^^
  = help: keep one of the two""",
    )


def test_E101_unknown_field() -> None:
    found = diagnose(
        """
        - op: expm1
          lowring: jnp.expm1
          promote: int_to_float
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:5: E101 unknown field 'lowring' in op 'expm1'; did you mean 'lowering'?
  |
4 |     lowring: jnp.expm1
  |     ^^^^^^^""",
    )


def test_E101_unknown_field_of_a_mapping() -> None:
    found = diagnose(
        """
        - op: mm
          lowering: matmul.mm
          tests: {tolerance: {f32: 1e-5}, tol: {fp32: 1e-5}}
          colour: blue
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:5:13: E101 unknown field 'tolerance' in 'tests' of op 'mm'
  |
5 |     tests: {tolerance: {f32: 1e-5}, tol: {fp32: 1e-5}}
  |             ^^^^^^^^^
  = help: fields: opinfo, tol, skip, check, samples
ops.yaml:5:43: E101 unknown field 'fp32' in 'tol' of op 'mm'; did you mean 'f32'?
  |
5 |     tests: {tolerance: {f32: 1e-5}, tol: {fp32: 1e-5}}
  |                                           ^^^^
ops.yaml:6:5: E101 unknown field 'colour' in op 'mm'
  |
6 |     colour: blue
  |     ^^^^^^
  = help: fields: op, custom, doc, lowering, expr, vjp, decompose, pallas, native, promote, dims, static, traced, positions, specialize, mutates, rng, precision, meta, memory_format, layouts, returns, sizes, checks, autocast, autograd, dtypes, variants, tests""",
    )


def test_E101_unknown_top_level_key() -> None:
    found = diagnose("- {op: expm1, lowering: jnp.expm1}", 'torch: "2.13"\nop: []\nops:\n')
    assert_expected_inline(
        found,
        """\
ops.yaml:2:1: E101 unknown field 'op' in the file; did you mean 'ops'?
  |
2 | op: []
  | ^^""",
    )


def test_E102_bad_enum() -> None:
    found = diagnose(
        """
        - op: expm1
          lowering: jnp.expm1
          promote: int_to_flaot
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:5:14: E102 'int_to_flaot' is not a value of 'promote' of op 'expm1'; did you mean 'int_to_float'?
  |
5 |     promote: int_to_flaot
  |              ^^^^^^^^^^^^
  = help: write one of none, default, int_to_float, int_to_long, bool, complex_to_float""",
    )


def test_E102_wrong_type() -> None:
    found = diagnose(
        """
        - op: expm1
          lowering: [jnp.expm1]
        - op: hardswish
          decompose: false
        - op: mm
          lowering: matmul.mm
          checks: alpha_matches_dtype
          tests: {tol: {f32: tight}}
        - op: native_layer_norm_backward
          vjp: {of: norm.layer_norm_from_stats, wrt: [input]}
        - just text
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:4:15: E102 'lowering' of op 'expm1' cannot be a list
  |
4 |     lowering: [jnp.expm1]
  |               ^^^^^^^^^^^
  = help: write a dotted path
ops.yaml:5:9: W501 the derivative of hardswish calls 'hardswish_backward', which has no entry
  |
5 |   - op: hardswish
  |         ^^^^^^^^^
  = help: tools/regen new hardswish_backward
ops.yaml:6:16: E102 'false' is not a value of 'decompose' of op 'hardswish'
  |
6 |     decompose: false
  |                ^^^^^
  = help: write true
ops.yaml:9:13: E102 'checks' of op 'mm' cannot be 'alpha_matches_dtype'
  |
9 |     checks: alpha_matches_dtype
  |             ^^^^^^^^^^^^^^^^^^^
  = help: write a list, each a name
ops.yaml:10:24: E102 'f32' of op 'mm' cannot be 'tight'
   |
10 |     tests: {tol: {f32: tight}}
   |                        ^^^^^
   = help: write a number
ops.yaml:12:10: E102 'vjp' of op 'native_layer_norm_backward' lacks 'cotangent'
   |
12 |     vjp: {of: norm.layer_norm_from_stats, wrt: [input]}
   |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   = help: write a mapping with of, wrt, cotangent, mask
ops.yaml:13:5: E102 an entry cannot be 'just text'
   |
13 |   - just text
   |     ^^^^^^^^^
   = help: write a mapping with op, custom, doc, lowering, expr, vjp, decompose, pallas, native, promote, dims, static, traced, positions, specialize, mutates, rng, precision, meta, memory_format, layouts, returns, sizes, checks, autocast, autograd, dtypes, variants, tests""",
    )


def test_E102_neither_op_nor_custom() -> None:
    found = diagnose("- lowering: jnp.expm1")
    assert_expected_inline(
        found,
        """\
ops.yaml:3:5: E102 an entry lacks 'op'
  |
3 |   - lowering: jnp.expm1
  |     ^^^^^^^^^^^^^^^^^^^
  = help: write op, the name of an overload, or custom, the schema of a new op""",
    )


def test_E102_no_ops() -> None:
    found = diagnose("", "torch: 2.13\n")
    assert_expected_inline(
        found,
        """\
ops.yaml:1:1: E102 the file lacks 'ops'
  |
1 | torch: 2.13
  | ^^^^^^^^^^^
  = help: write ops: a list of entries""",
    )


def test_E102_custom_op_without_doc() -> None:
    found = diagnose(
        """
        - custom: "tpu::scale(Tensor self, float factor) -> Tensor"
          expr: self * factor
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:3:13: E102 op 'tpu::scale' needs a 'doc': one sentence on what it is for
  |
3 |   - custom: "tpu::scale(Tensor self, float factor) -> Tensor"
  |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: nothing else describes a custom op or a kernel""",
    )


def test_E102_two_promotions() -> None:
    found = diagnose(
        """
        - op: add.Tensor
          expr: self + alpha * other
          promote: {default: [self], bool: [other]}
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:5:14: E102 op 'add.Tensor' promotes in two ways
  |
5 |     promote: {default: [self], bool: [other]}
  |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: keep one""",
    )


def test_E102_autocast() -> None:
    found = diagnose(
        """
        - op: expm1
          lowering: jnp.expm1
          promote: int_to_float
          autocast: {policy: fp32, reason: as everywhere}
        - op: add.Tensor
          expr: self + alpha * other
          autocast: {policy: fallthrough, reason: as everywhere}
        - op: mm
          lowering: matmul.mm
          autocast: lowest
        - custom: "tpu::scale_(Tensor(a!) self, float factor) -> Tensor(a!)"
          doc: Scales a tensor.
          expr: self * factor
          autocast: lower
        - custom: "tpu::scale(Tensor self, float factor) -> Tensor"
          doc: Needs no reason, since ATen knows nothing of it.
          expr: self * factor
          autocast: fallthrough
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:6:15: E102 'fp32' is not a value of 'autocast' of op 'expm1': ATen does the same, its list says so
  |
6 |     autocast: {policy: fp32, reason: as everywhere}
  |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: delete it, or write one of lower, promote, fallthrough
ops.yaml:9:15: E102 'fallthrough' is not a value of 'autocast' of op 'add.Tensor': ATen does the same, none of its lists has the op
  |
9 |     autocast: {policy: fallthrough, reason: as everywhere}
  |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: delete it, or write one of lower, fp32, promote
ops.yaml:12:15: E102 'lowest' is not a value of 'autocast' of op 'mm'; did you mean 'lower'?
   |
12 |     autocast: lowest
   |               ^^^^^^
   = help: write one of lower, fp32, promote, fallthrough
ops.yaml:16:15: E102 'lower' is not a value of 'autocast' of op 'tpu::scale_': what is written to a cast of 'self' would be lost
   |
16 |     autocast: lower
   |               ^^^^^
   = help: write fallthrough, or make the op functional""",
    )


def test_E102_dtypes_without_effect() -> None:
    found = diagnose(
        """
        - op: as_strided
          native: as_strided
          dtypes: {only: [float], reason: to see}
        - op: mm
          lowering: matmul.mm
          dtypes: {only: [], reason: to see}
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:5:5: E102 'dtypes' of op 'as_strided' would have no effect: what is native decides for itself
  |
5 |     dtypes: {only: [float], reason: to see}
  |     ^^^^^^
  = help: check them in the C++ function
ops.yaml:8:13: E102 'dtypes' of op 'mm' leaves nothing to the device
  |
8 |     dtypes: {only: [], reason: to see}
  |             ^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: name those that it takes, or delete the entry""",
    )


def test_E103_no_implementation() -> None:
    found = diagnose(
        """
        - op: expm1
          promote: int_to_float
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:3:9: E103 op 'expm1' has no implementation
  |
3 |   - op: expm1
  |         ^^^^^
  = help: add exactly one of: lowering, expr, vjp, decompose, pallas, native""",
    )


def test_E103_two_implementations() -> None:
    found = diagnose(
        """
        - op: mm
          lowering: matmul.mm
          decompose: true
        """
    )
    assert_expected_inline(
        found,
        """\
ops.yaml:5:5: E103 op 'mm' has 2 implementations: 'lowering' and 'decompose'
  |
5 |     decompose: true
  |     ^^^^^^^^^
  = help: keep exactly one of: lowering, expr, vjp, decompose, pallas, native""",
    )
