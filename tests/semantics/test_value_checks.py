"""Indices out of range and integer divisions by zero raise as on the CPU, unless the user turns that off."""

import pytest
import torch

from tests.compare import assert_same, assert_same_error
from tests.device import compiles
from tests.runtime.subprocesses import run

# By op: a call with a value that may be wrong, and values that are right and wrong.
CALLS = {
    "index_select": (lambda x, value: x.index_select(0, value), (2, 3)),
    "gather": (lambda x, value: x.gather(0, value), (1, -1)),
    "embedding": (lambda x, value: torch.nn.functional.embedding(value, x[:, None]), (0, 9)),
    "divide": (lambda x, value: torch.ones_like(value) // value, (2, 0)),
    "remainder": (lambda x, value: torch.ones_like(value) % value, (2, 0)),
}


@pytest.fixture
def without_checks():
    torch.tpu.set_value_checks(False)
    yield
    torch.tpu.set_value_checks(True)


def call(name: str, device: str, wrong: bool) -> torch.Tensor:
    function, values = CALLS[name]
    return function(torch.arange(3.0, device=device), torch.tensor([values[wrong]], device=device)).cpu()


@pytest.mark.parametrize("name", CALLS)
def test_on(name) -> None:
    assert torch.tpu.get_value_checks()
    assert_same(call(name, "tpu", wrong=False), call(name, "cpu", wrong=False))
    assert_same_error("tpu", lambda device: call(name, device, wrong=True))


@pytest.mark.parametrize("name", CALLS)
def test_off(name, without_checks) -> None:
    """What is right stays right; what is wrong has a result of the right shape."""
    right = call(name, "tpu", wrong=False)
    assert_same(right, call(name, "cpu", wrong=False))
    assert call(name, "tpu", wrong=True).shape == right.shape


def test_both_kinds_of_program_are_kept() -> None:
    x, index = torch.ones(3, 5, device="tpu"), torch.tensor([0, 2], device="tpu")
    for checked in (False, True):
        torch.tpu.set_value_checks(checked)
        x.index_select(0, index)
    with compiles(at_most=0):
        for checked in (False, True):
            torch.tpu.set_value_checks(checked)
            x.index_select(0, index)


def test_environment() -> None:
    program = "import torch; print(torch.tpu.get_value_checks())"
    assert run(program, TORCHTPU_VALUE_CHECKS="0").stdout == "False\n"
    result = run(program, TORCHTPU_VALUE_CHECKS="off")
    assert result.stdout == "True\n" and "TORCHTPU_VALUE_CHECKS is 'off'; it can be 1 or 0" in result.stderr
