"""How common views of a 1024x1024 float32 tensor are read and written inside programs, and what XLA says that moves.

usage: tools/bench views [--json]

plan: what a view is solved to. A gather or a scatter, which address every element, is the last resort.
read: bytes accessed by `view * 2`, as XLA's CPU compiler counts them, next to what such a program has to read and write.
write: the same of `view.mul_(2)`, whose base is donated.
"""

import json
import math
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # JAX compiles here, and never owns the device

import jax
import numpy as np
import torch
from options import wants_json

from torchtpu import _C
from torchtpu.miss.views import Segment, View, read, write

SIDE = 1024
VIEWS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "x": lambda x: x,
    "x.t()": lambda x: x.t(),
    "x[3]": lambda x: x[3],
    "x[:, 3]": lambda x: x[:, 3],
    "x[8:16]": lambda x: x[8:16],
    "x[:, 8:16]": lambda x: x[:, 8:16],
    "x[::2]": lambda x: x[::2],
    "x.view(-1)": lambda x: x.view(-1),
    "x.view(64, 16, 1024)": lambda x: x.view(64, 16, SIDE),
    "x.view(1024, 16, 64).transpose(0, 1)": lambda x: x.view(SIDE, 16, 64).transpose(0, 1),
    "x.unsqueeze(0).expand(2, -1, -1)": lambda x: x.unsqueeze(0).expand(2, -1, -1),
    "x.chunk(2, 1)[1]": lambda x: x.chunk(2, 1)[1],
    "x.diagonal()": lambda x: x.diagonal(),
    "x.unfold(0, 4, 4)": lambda x: x.unfold(0, 4, 4),
    "x.unfold(0, 4, 2)": lambda x: x.unfold(0, 4, 2),
    "x.view(-1)[5:1029]": lambda x: x.view(-1)[5:1029],
}


def describe(name: str) -> dict[str, Any]:
    base = torch.empty(SIDE, SIDE, device="meta")
    tensor = VIEWS[name](base)
    sizes, strides = tuple(tensor.shape), tensor.stride()
    whole = sizes == (SIDE, SIDE) and tensor.is_contiguous()
    found = _C.solve_view([SIDE, SIDE], list(sizes), list(strides), tensor.storage_offset())
    segments = None if found is None else tuple(Segment(*s[:3], None if s[3] < 0 else s[3]) for s in found)
    single = np.dtype(np.float32)
    view = View(sizes, strides, single, single, (SIDE, SIDE), single, whole, None if whole else segments)
    elements = tensor.untyped_storage().nbytes() // 4 if tensor.numel() > SIDE * SIDE else tensor.numel()
    overlaps = len(set(strides)) < len(strides) or 0 in strides or name == "x.unfold(0, 4, 2)"
    return {
        "plan": plan(view),
        "read": moved(view, lambda x, starts: read(view, x, starts) * 2),
        "least_read": 4 * (elements + tensor.numel()),
        "write": None if overlaps else moved(view, lambda x, starts: write(view, x, starts, read(view, x, starts) * 2)),
        "least_write": None if overlaps else 8 * tensor.numel(),
    }


def plan(view: View) -> str:
    """The steps from the base to the view, in words."""
    if view.whole:
        return "whole"
    if view.segments is None:
        return "gather"
    dims = [segment.view_dim for segment in view.segments if segment.view_dim is not None]
    steps = {
        "reshape": tuple(segment.size for segment in view.segments) != view.base_sizes,
        "slice": any(segment.has_start for segment in view.segments),
        "stride": any(segment.step > 1 for segment in view.segments),
        "transpose": dims != sorted(dims),
        "broadcast": any(stride == 0 and size > 1 for size, stride in zip(view.sizes, view.strides)),
    }
    return " ".join(name for name, needed in steps.items() if needed) or "reshape"


def moved(view: View, function: Callable) -> int:
    """Bytes; starts come at run time, as they do in every program of the device."""
    x, start = jax.ShapeDtypeStruct((SIDE, SIDE), np.float32), jax.ShapeDtypeStruct((), np.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a program that only reads cannot use the donation
        compiled = jax.jit(function, donate_argnums=0).lower(x, [start] * view.num_starts).compile()
    return int(compiled.cost_analysis().get("bytes accessed", math.nan))


def table(results: dict[str, dict[str, Any]]) -> str:
    lines = [f"{'view':38}{'plan':26}{'read, kB':>10}{'x least':>9}{'write, kB':>11}{'x least':>9}"]
    for name, row in results.items():
        cells = [f"{name:38}{row['plan']:26}"]
        for what in ("read", "write"):
            if row[what] is None:
                cells.append(f"{'-':>10}{'-':>9}")
            else:
                cells.append(f"{row[what] / 1000:>10.0f}{row[what] / row[f'least_{what}']:>9.2f}")
        lines.append("".join(cells))
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    as_json = wants_json(arguments, __doc__)
    results = {name: describe(name) for name in VIEWS}
    print(json.dumps(results) if as_json else table(results))


if __name__ == "__main__":
    main(sys.argv[1:])
