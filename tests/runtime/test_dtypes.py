"""`dtypes:` of an entry: a call outside of the set runs on the CPU, counted and warned of, or raises.

Hardly an entry of ops.yaml is narrowed, so most of these processes narrow some before they use them.
"""

import pytest

from tests.device import ON_TPU
from tests.runtime.subprocesses import run

pytestmark = pytest.mark.skipif(not ON_TPU, reason="about the device's own entries")

NARROWED = """
import dataclasses, warnings
import torch, torchtpu.miss
from torchtpu.generated import ENTRIES
from tests.compare import assert_same, assert_same_error

for name in ("expm1", "sub.Tensor", "add.Tensor", "sum.dim_IntList", "gather", "embedding", "topk", "arange.start_step",
             "linspace", "_foreach_add.List", "index.Tensor", "masked_fill.Scalar"):
    ENTRIES[name] = dataclasses.replace(ENTRIES[name], dtypes=("float32", "int32"), dtypes_reason="to see what happens")

def fallbacks(call):
    torch.tpu.reset_fallback_counts()
    call()
    return torch.tpu.fallback_counts()

def like(d, dtype=torch.float64, *shape):
    size = torch.Size(shape or (2, 3))
    return torch.linspace(0.5, 3, size.numel(), dtype=torch.float64).reshape(size).to(dtype).to(d)

def empty(d):
    return torch.empty(0, dtype=torch.float64, device=d)

index = lambda d: torch.tensor([[1, 0, 1]], device=d)
"""

FORMS = """
def written(make, write):
    def call(d):
        tensor = make(d)
        return write(tensor), tensor
    return call

def out(call, make):
    def run(d):
        result = make(d)
        assert call(d, result) is result
        return result
    return run

calls = {
    "functional": lambda d: like(d).expm1(),
    "of integers": lambda d: like(d, torch.int64).expm1(),
    "a view": lambda d: like(d).t()[1:].expm1(),
    "conjugated": lambda d: like(d, torch.complex64).conj() + 1j,
    "empty": lambda d: like(d)[:0].expm1(),
    "in place": written(like, lambda x: x.expm1_()),
    "in place, a view": written(like, lambda x: x.t()[1:].expm1_()),
    "in place, from itself": written(like, lambda x: x.add_(x)),
    "out=": out(lambda d, o: torch.expm1(like(d), out=o), lambda d: like(d)),
    "out= that is resized": out(lambda d, o: torch.expm1(like(d), out=o), empty),
    "out= that is a view": written(
        lambda d: like(d, torch.float64, 2, 6), lambda x: torch.expm1(x[:, ::2], out=x[:, 1::2])
    ),
    "a number first": lambda d: 1 - like(d),
    "a tensor of the CPU first": lambda d: torch.sub(torch.tensor(2.0), like(d)),
    "two results": lambda d: tuple(like(d).topk(2)),
    "a list": lambda d: torch._foreach_add([like(d)], [like(d)]),
    "a list in place": written(lambda d: [like(d)], lambda x: torch._foreach_add_(x, x)),
    "a mask": lambda d: like(d)[like(d) > 1],
    "a factory": lambda d: torch.arange(0, 5, 2, device=d),
    "a factory with a dtype": lambda d: torch.linspace(0, 1, 5, dtype=torch.float64, device=d),
    "a factory with an out": lambda d: torch.linspace(0, 1, 5, out=torch.empty(5, dtype=torch.float64, device=d)),
    "a dtype argument": lambda d: like(d, torch.float32).sum(0, dtype=torch.float64),
}
for name, call in calls.items():
    expected = call("cpu")
    for attempt in range(2):
        got = []
        assert sum(fallbacks(lambda: got.append(call("tpu"))).values()) == 1, (name, attempt)
        assert all(t.device.type == "tpu" for t in torch.utils._pytree.tree_leaves(got[0]) if t is not None), name
        assert_same(got[0], expected)
"""


CELL = """
import torch

def cell(d, dtype):
    x = torch.arange(-3, 3).to(d, dtype)
    return torch.rnn_tanh_cell(x.view(2, 3), x[:4].view(2, 2), x.view(2, 3), x[:4].view(2, 2))

assert torch.allclose(cell("tpu", torch.complex64).cpu(), cell("cpu", torch.complex64))
assert torch.tpu.fallback_counts() == {}
result = cell("tpu", torch.int64)
assert result.device.type == "tpu" and torch.equal(result.cpu(), cell("cpu", torch.int64))
assert torch.tpu.fallback_counts() == {"aten::rnn_tanh_cell": 1}
"""


def test_an_entry_of_ops_yaml() -> None:
    warned = run(CELL, TORCHTPU_FALLBACK="warn")
    assert "aten::rnn_tanh_cell runs on the CPU, since the entry of rnn_tanh_cell takes float16, " in warned.stderr
    refused = run(CELL, TORCHTPU_FALLBACK="error", check=False)
    assert "NotImplementedError: torchtpu: aten::rnn_tanh_cell: the entry of rnn_tanh_cell takes" in refused.stderr


def test_every_form_of_a_call_runs_on_the_cpu() -> None:
    run(NARROWED + FORMS, TORCHTPU_FALLBACK="warn")


def test_gradients_go_through_it() -> None:
    run(
        NARROWED
        + """
for d in ("cpu", "tpu"):
    x = like(d).requires_grad_()
    (x.expm1() - x).sum(0).backward(like(d, torch.float64, 3))
    gradient = x.grad if d == "cpu" else assert_same(x.grad, gradient)
        """,
        TORCHTPU_FALLBACK="warn",
    )


def test_it_warns_once_and_is_remembered() -> None:
    """The second call neither goes through Python nor warns; `add_` and `add` are two ops, as in the counts."""
    run(
        NARROWED
        + """
x = like("tpu")
traced, trace = [], torchtpu.miss.trace
torchtpu.miss.trace = lambda request: traced.append(request["overload"]) or trace(request)
torch.tpu.reset_fallback_counts()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(3):
        x.expm1()
    x.expm1_()
    like("tpu", torch.int64).expm1()
said = [str(w.message).partition(" (Trig")[0] for w in caught]
why = ", since the entry of expm1 takes float32, int32, not float64: to see what happens"
assert said == ["torchtpu: aten::expm1 runs on the CPU" + why, "torchtpu: aten::expm1_ runs on the CPU" + why], said
assert traced == ["expm1", "expm1_", "expm1"], traced
assert torch.tpu.fallback_counts() == {"aten::expm1": 4, "aten::expm1_": 1}
        """,
        TORCHTPU_FALLBACK="warn",
    )


def test_what_counts() -> None:
    """What the arguments are promoted to; else the first tensor; indices, masks and an out= do not."""
    run(
        NARROWED
        + """
x = like("tpu", torch.float32)
inside = [
    lambda: x.expm1(),
    lambda: x + like("tpu", torch.int64),
    lambda: x + torch.tensor(2.5, dtype=torch.float64),
    lambda: x + 2**40,
    lambda: x.gather(0, index("tpu")),
    lambda: x.int().gather(0, index("tpu")),
    lambda: torch.nn.functional.embedding(index("tpu"), x),
    lambda: x[index("tpu")],
    lambda: x.masked_fill(x > 1, 2),
    lambda: like("tpu", torch.int64).sum(0, dtype=torch.float32),
    lambda: torch.expm1(x, out=empty("tpu")),
    lambda: torch.linspace(0, 1, 3, device="tpu"),
]
for position, call in enumerate(inside):
    assert fallbacks(call) == {}, position
outside = [
    lambda: x.double() + x,
    lambda: x + 1j,
    lambda: x.bool() + x.bool(),
    lambda: x.long().gather(0, index("tpu")),
    lambda: x.bool()[index("tpu")],
    lambda: x.sum(0, dtype=torch.float64),
    lambda: torch.linspace(0, 1, 3, dtype=torch.float64, device="tpu"),
    lambda: torch.arange(0, 4, 1, device="tpu"),
]
for position, call in enumerate(outside):
    assert sum(fallbacks(call).values()) == 1, position
        """,
        TORCHTPU_FALLBACK="warn",
    )


def test_a_decomposition_that_reaches_it() -> None:
    """The whole op runs on the CPU, for the reason of the entry within."""
    run(
        NARROWED
        + """
assert ENTRIES["special_entr"].decompose
ENTRIES["log"] = dataclasses.replace(ENTRIES["log"], dtypes=("float32",), dtypes_reason="to see what happens")
assert fallbacks(lambda: torch.special.entr(like("tpu", torch.float32))) == {}
with warnings.catch_warnings(record=True) as caught:
    assert fallbacks(lambda: torch.special.entr(like("tpu"))) == {"aten::special_entr": 1}
assert "the entry of log takes float32, not float64: to see" in str(caught[0].message)
        """,
        TORCHTPU_FALLBACK="warn",
    )


def test_as_an_error() -> None:
    run(
        NARROWED
        + """
for attempt in range(2):
    for call, op, dtype in (
        (lambda: like("tpu").expm1(), "expm1", "float64"),
        (lambda: like("tpu", torch.int64).expm1(), "expm1", "int64"),
        (lambda: like("tpu").expm1_(), "expm1_", "float64"),
        (lambda: torch.expm1(like("tpu"), out=empty("tpu")), "expm1.out", "float64"),
    ):
        try:
            call()
        except NotImplementedError as error:
            what = f"torchtpu: aten::{op}: the entry of expm1 takes float32, int32, not {dtype}: to see what happens"
            assert str(error).startswith(what + " (TORCHTPU_FALLBACK=warn runs it on the CPU instead)"), error
        else:
            raise AssertionError(op)
assert torch.tpu.fallback_counts() == {}
assert like("tpu", torch.float32).expm1().shape == (2, 3)
        """,
        TORCHTPU_FALLBACK="error",
    )


@pytest.mark.parametrize("mode", ("warn", "error"))
def test_what_the_cpu_refuses_is_its_own_error(mode: str) -> None:
    run(
        NARROWED
        + """
refused = {
    "bools": lambda d: like(d, torch.bool) - like(d, torch.bool),
    "sizes": lambda d: like(d) + like(d, torch.float64, 4),
    "an in-place result that does not fit": lambda d: like(d, torch.int64).add_(0.5),
    "an integer in place": lambda d: like(d, torch.int64).expm1_(),
    "an index": lambda d: like(d).gather(0, like(d)),
    "a dimension": lambda d: like(d).sum(2),
    "overlapping memory": lambda d: like(d, torch.float64, 1).expand(3).add_(1),
}
for call in refused.values():
    for attempt in range(2):
        assert_same_error("tpu", call)
        """,
        TORCHTPU_FALLBACK=mode,
    )
