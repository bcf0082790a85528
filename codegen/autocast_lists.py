"""ATen's own autocast lists, read from the header whose macros csrc/aten/autocast.cpp registers them by."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

# In no list: csrc/aten/autocast.cpp raises, as CUDA does.
_REFUSED = {"binary_cross_entropy": "refused"}
HEADER = "include/ATen/autocast_mode.h"
# By the macro that holds them. The variants of fp32 set or append the dtype argument instead of casting.
_LISTS = {
    "AT_FORALL_LOWER_PRECISION_FP": "lower",
    "AT_FORALL_FP32": "fp32",
    "AT_FORALL_FP32_SET_OPT_DTYPE": "fp32",
    "AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE": "fp32",
    "AT_FORALL_PROMOTE": "promote",
}


def aten_policies() -> dict[str, str]:
    """Overload -> policy, or "refused". An op that is not here falls through."""
    package = Path(importlib.util.find_spec("torch").origin).parent  # found, not imported
    text = (package / HEADER).read_text()
    lists = {overload: policy for macro, policy in _LISTS.items() for overload in _overloads(text, macro)}
    return lists | _REFUSED


def _overloads(text: str, macro: str) -> list[str]:
    """Items are `_(name)`, `_(name, overload)`, or have the full name in quotes."""
    body = re.search(rf"#define {macro}\(_\)((?:.*\\\n)*.*)", text)[1]
    quoted = re.findall(r'"([\w.]+)"', body)
    return quoted or [".".join(part for part in item if part) for item in re.findall(r"_\((\w+)(?:, (\w+))?\)", body)]
