"""tools/regen: what it prints, writes and returns."""

from pathlib import Path

import pytest
from expecttest import assert_expected_inline

from codegen import cli
from codegen.emit.writer import read_tree

ROOT = Path(__file__).resolve().parents[2]
SPEC = """\
torch: "2.13"
ops:
  - op: expm1
    lowering: jnp.expm1
    promote: int_to_float
  - op: exp
    lowering: jnp.exp
    promote: int_to_float
"""


class Regen:
    """tools/regen on a spec and an output folder of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.spec, self.out = folder / "spec.yaml", folder / "out"
        self.spec.write_text(SPEC)
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        code = cli.main(ROOT, self._build, ["--spec", str(self.spec), "--out", str(self.out), *arguments])
        return code, *self._capsys.readouterr()

    def edit(self, old: str, new: str) -> None:
        text = self.spec.read_text()
        assert old in text
        self.spec.write_text(text.replace(old, new))

    def tree(self) -> dict[str, tuple[str, int]]:
        return {path: (text, (self.out / path).stat().st_mtime_ns) for path, text in read_tree(self.out).items()}

    def _build(self) -> None:
        pytest.fail("only the repository is built")


@pytest.fixture
def regen(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Regen:
    monkeypatch.chdir(tmp_path)
    return Regen(tmp_path, capsys)


def test_prints_a_line_for_each_changed_entry(regen: Regen) -> None:
    code, out, _ = regen()
    assert code == 0
    assert_expected_inline(
        out,
        """\
expm1: 3 registrations, 1 lowering, 8 tests
exp: 3 registrations, 1 lowering, 8 tests
2 entries; 16 files changed
""",
    )
    code, out, _ = regen()
    assert_expected_inline(
        out,
        """\
2 entries; up to date
""",
    )
    regen.edit("lowering: jnp.exp\n", "expr: jnp.exp(self)\n")
    _, out, _ = regen()
    assert_expected_inline(
        out,
        """\
exp: 3 registrations, 1 lowering, 8 tests
2 entries; 2 files changed
""",
    )
    regen.edit("  - op: exp\n    expr: jnp.exp(self)\n    promote: int_to_float\n", "")
    _, out, _ = regen()
    assert_expected_inline(
        out,
        """\
exp: gone
1 entry; 5 files changed
""",
    )


def test_unchanged_files_keep_their_time_and_stale_ones_go(regen: Regen) -> None:
    regen()
    before = regen.tree()
    (regen.out / "csrc" / "ops_9.cpp").write_text("// from a time of more shards\n")
    regen.edit("lowering: jnp.exp\n", "expr: jnp.exp2(self)\n")
    regen()
    after = regen.tree()
    assert set(after) == set(before)
    assert {path for path in after if after[path] != before[path]} == {"MANIFEST.json", "OPS.md", "lowerings/ops.py"}


def test_a_broken_spec_touches_nothing(regen: Regen) -> None:
    regen()
    before = regen.tree()
    regen.edit("jnp.expm1", "jnp.expm3")
    code, out, err = regen()
    assert (code, out) == (1, "")
    assert_expected_inline(
        err,
        """\
spec.yaml:4:15: E301 jax.numpy has no 'expm3'; did you mean 'expm1'?
  |
4 |     lowering: jnp.expm3
  |               ^^^^^^^^^
1 error in 2 entries; nothing was written
""",
    )
    assert regen.tree() == before
    regen.spec.unlink()
    code, _, err = regen()
    assert (code, err) == (1, "spec.yaml: no such file\n")


def test_check(regen: Regen) -> None:
    regen()
    code, out, _ = regen("--check")
    assert (code, out) == (0, "2 entries; out/ is up to date\n")
    before = regen.tree()
    regen.edit("lowering: jnp.exp\n", "expr: jnp.exp(self)\n")
    code, out, err = regen("--check")
    assert code == 1
    assert "-    return jnp.exp(self)" not in out and "-| `exp` |" in out and "+| `exp` |" in out
    assert err == "out/ is not what spec.yaml gives (2 files differ); run: tools/regen\n"
    assert regen.tree() == before


def test_check_finds_edited_output(regen: Regen) -> None:
    regen()
    with (regen.out / "lowerings" / "ops.py").open("a") as file:
        file.write("# an edit\n")
    code, out, err = regen("--check")
    assert (code, "-# an edit" in out, "1 file differs" in err) == (1, True, True)


def test_warnings_do_not_fail(regen: Regen) -> None:
    regen.edit("op: exp\n    lowering: jnp.exp\n", "op: hardswish\n    expr: self * jnp.clip(self + 3, 0, 6) / 6\n")
    code, out, err = regen()
    assert (code, err.count("error")) == (0, 0) and "2 entries" in out
    assert "W501 the derivative of hardswish calls 'hardswish_backward'" in err


def test_new(regen: Regen) -> None:
    assert_expected_inline(
        regen("new", "aten::erfinv")[1],
        """\
  # registers erfinv, erfinv.out, erfinv_
  - op: erfinv
    lowering: jsp.erfinv
    promote: int_to_float
""",
    )
    assert_expected_inline(
        regen("new", "mul_.Tensor")[1],
        """\
  # registers mul.Tensor, mul.out, mul_.Tensor
  - op: mul.Tensor
    lowering: jnp.multiply
""",
    )
    assert_expected_inline(
        regen("new", "eq.Tensor")[1],
        """\
  # registers eq.Tensor, eq.Tensor_out, eq_.Tensor
  - op: eq.Tensor
    lowering: jnp.equal
    promote: bool
""",
    )
    assert_expected_inline(
        regen("new", "celu")[1],
        """\
  # torch composes it of other ops; with an entry it is one program
  # registers celu, celu.out, celu_
  - op: celu
    decompose: true
""",
    )
    assert_expected_inline(
        regen("new", "exponential_")[1],
        """\
  # registers exponential, exponential.out, exponential_
  - op: exponential_
    lowering: family.exponential  # write torchtpu/lowerings/family.py: def exponential(key, self, lambd)
    rng: key
""",
    )
    assert_expected_inline(
        regen("new", "frexp.Tensor")[1],
        """\
  # torch composes it of other ops; with an entry it is one program
  # registers frexp.Tensor, frexp.Tensor_out
  - op: frexp.Tensor
    lowering: jnp.frexp
    promote: int_to_float
""",
    )


def test_new_refuses(regen: Regen) -> None:
    for name, said in {
        "expm1_": "expm1 has an entry, at line 3 of spec.yaml",
        "layer_norm": "layer_norm needs no entry: torch composes it of other ops",
        "add": "aten::add has several overloads, each with an entry of its own: add.Tensor, add.Scalar",
        "erfinve": "'aten::erfinve' is not an operator of torch 2.13; did you mean 'erfinv'?",
    }.items():
        code, out, err = regen("new", name)
        assert (code, out) == (1, "")
        assert err.startswith(said)


def test_new_append(regen: Regen) -> None:
    code, out, _ = regen("new", "erfinv", "--append")
    assert (code, out) == (0, "spec.yaml: appended an entry for erfinv; next: tools/regen\n")
    assert regen.spec.read_text().startswith(SPEC)
    code, out, _ = regen()
    assert code == 0 and "erfinv: 3 registrations, 1 lowering, 8 tests" in out


def test_show(regen: Regen) -> None:
    code, out, _ = regen("show", "expm1_")
    assert code == 0
    assert_expected_inline(
        out,
        """\
expm1: lowering: jnp.expm1
  schema: expm1(Tensor self) -> Tensor
  autocast: fp32, as in ATen

variants
  expm1(Tensor self) -> Tensor
  expm1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  expm1_(Tensor(a!) self) -> Tensor(a!)

key plan
  self: tensor, read: its metadata is in the key
  promote int_to_float: self

C++
  {"expm1", "expm1", false, false, {{"self", Role::Read}}},
  {"expm1.out", "expm1", false, false, {{"self", Role::Read}, {"out", Role::Write}}},
  {"expm1_", "expm1", false, false, {{"self", Role::Write}}},

Python
  def expm1(self):
      return jnp.expm1(self)
  Entry("expm1", (Param("self", "Tensor", True),), expm1, promote="int_to_float", promoted=("self",), structured=True)

tests
  class TestExpm1: values, second_call_hits, lowering_ran, noncontiguous, zero_size, out, inplace, backward
    entry = "expm1"
    aten = "expm1"
    overloads = ("expm1", "expm1.out", "expm1_")
""",
    )
    assert regen("show", "expm2")[2] == "spec.yaml has no entry for 'expm2'; did you mean 'expm1'?\n"
    assert regen("show", "erfinv")[2] == "spec.yaml has no entry for 'erfinv'; add one with: tools/regen new erfinv\n"


def test_show_what_an_entry_narrows(regen: Regen) -> None:
    fields = ("dtypes: {only: [f32, complex], reason: why}", "autocast: {policy: fallthrough, reason: why}")
    regen.edit("lowering: jnp.expm1", "\n    ".join(("lowering: jnp.expm1", *fields)))
    assert_expected_inline(
        "\n".join(regen("show", "expm1")[1].splitlines()[1:4]),
        """\
  schema: expm1(Tensor self) -> Tensor
  dtypes: float32, complex64, complex128; others run on the CPU
  autocast: fallthrough, by this entry""",
    )


def test_explain(regen: Regen) -> None:
    code, out, _ = regen("explain", "e203")
    assert code == 0
    assert_expected_inline(
        out,
        """\
E203: Two entries for the same op, or an entry for one that `excluded` says gets none. Only one of them can be true.
""",
    )
    code, _, err = regen("explain", "E30")
    assert code == 1 and err.startswith("there is no rule 'E30'; did you mean 'E30")


def test_every_rule_is_explained_and_pinned() -> None:
    """Each has a long form, and a negative test that is named after it."""
    from codegen.rules import RULES

    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert sorted(RULES) == [
        *("E001", "E101", "E102", "E103", "E201", "E202", "E203", "E204", "E205"),
        *("E301", "E302", "E303", "E304", "E305", "E306", "E307", "E401", "W501"),
    ]
    for code, rule in RULES.items():
        assert len(rule.explanation.split()) > 10, code
        assert f"def test_{code}_" in tests, code
