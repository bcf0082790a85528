"""Comparing what two devices did: values, metadata and errors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree


def assert_same(actual: Any, expected: Any, *, strides: bool = True, **tolerance: float) -> None:
    """`actual` (on any device) equals `expected` (on the CPU): structure, values, dtype, shape and strides."""
    actual_leaves, actual_spec = pytree.tree_flatten(actual)
    expected_leaves, expected_spec = pytree.tree_flatten(expected)
    assert actual_spec == expected_spec, f"structure {actual_spec} instead of {expected_spec}"
    for left, right in zip(actual_leaves, expected_leaves):
        if not isinstance(right, torch.Tensor):
            torch.testing.assert_close(left, right, equal_nan=True, **tolerance) if right is not None else _is_none(
                left
            )
            continue
        assert isinstance(left, torch.Tensor), f"{left!r} instead of a tensor"
        if strides and right.numel():  # nothing depends on the strides of no elements
            assert left.stride() == right.stride(), (
                f"strides {left.stride()} instead of {right.stride()} for shape {tuple(right.shape)}"
            )
        torch.testing.assert_close(left.detach().cpu(), right.detach(), equal_nan=True, **tolerance)


def usual_tolerance(dtype: torch.dtype) -> dict[str, float]:
    """What assert_close allows for the dtype by itself."""
    rtol, atol = torch.testing._comparison.default_tolerances(dtype)
    return {"rtol": rtol, "atol": atol}


def _is_none(value: Any) -> None:
    assert value is None, f"{value!r} instead of None"


@dataclass(frozen=True)
class Failure:
    """An exception as a user sees it."""

    type: type
    message: str


def outcome(body: Callable[[], Any]) -> Any:
    """What `body` returns, or the Failure that it raises."""
    try:
        return body()
    except Exception as error:
        return Failure(type(error), str(error).strip())


def assert_same_outcome(actual: Callable[[], Any], expected: Callable[[], Any], **options: Any) -> Any:
    """Both return the same, or both raise the same type with the same message. Returns the expected outcome."""
    wanted, got = outcome(expected), outcome(actual)
    if isinstance(wanted, Failure) or isinstance(got, Failure):
        assert got == wanted, f"{got!r:.300} instead of {wanted!r:.300}"
    else:
        assert_same(got, wanted, **options)
    return wanted


def assert_same_error(device: str, body: Callable[[str], Any]) -> Failure:
    """`body(device)` raises what `body("cpu")` raises."""
    wanted = outcome(lambda: body("cpu"))
    assert isinstance(wanted, Failure), "this is no error on the CPU"
    assert outcome(lambda: body(device)) == wanted
    return wanted
