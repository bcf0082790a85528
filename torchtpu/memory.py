"""torch.tpu's memory: figures of what live buffers hold, in bytes.

PJRT allocates, and there is no caching allocator above it: "allocated", "active" and "requested" are one and the same,
a segment is a buffer, and what is freed is PJRT's again at once. "Reserved" counts what the runtime holds for its own
ends as well: the scalars of recent calls, a few bytes each. Neither counts compiled programs or their temporaries.

Figures are those of all calls made so far: asking for them waits until the programs that are being compiled have been
started (torch.accelerator's own functions wait as well, but hold the GIL meanwhile).

Buffers are immutable and shared until somebody writes: a view, `x.clone()` and `y.copy_(x)` take no memory,
`torch.empty` takes none before its first use, and an in-place operation on a tensor that shares its buffer takes its
size anew.

Host memory needs no pinning: copies to the device are made within the call, so that the source may be written at once
even after `non_blocking=True`. `Tensor.pin_memory()` and DataLoader(pin_memory=True) work and give ordinary
memory, of which `is_pinned()` says False.
"""

from collections import OrderedDict

import torch

from torchtpu import _C
from torchtpu.index import Device, existing_index


def memory_stats(device: Device = None) -> OrderedDict[str, int]:
    """The figures of a device under torch.cuda.memory_stats' names; zeros before the runtime starts.

    `{allocated_bytes,active_bytes,requested_bytes,reserved_bytes}.all.{current,peak,allocated,freed}` are bytes,
    `{allocation,active,segment}.all.{...}` buffers, `num_ooms` calls that raised torch.OutOfMemoryError. There are no
    pools and no retries: what is told of those is 0. Raises RuntimeError for a device that does not exist.
    """
    _C.drain()
    return torch.accelerator.memory_stats(existing_index(device))


def memory_allocated(device: Device = None) -> int:
    """Bytes that tensors hold on the device."""
    return memory_stats(device)["allocated_bytes.all.current"]


def max_memory_allocated(device: Device = None) -> int:
    """The most bytes that tensors held at once since the beginning, or since reset_peak_memory_stats."""
    return memory_stats(device)["allocated_bytes.all.peak"]


def memory_reserved(device: Device = None) -> int:
    """Bytes that tensors and the runtime hold on the device."""
    return memory_stats(device)["reserved_bytes.all.current"]


def max_memory_reserved(device: Device = None) -> int:
    """The most bytes that tensors and the runtime held at once, as max_memory_allocated."""
    return memory_stats(device)["reserved_bytes.all.peak"]


def reset_peak_memory_stats(device: Device = None) -> None:
    """Makes every peak what is there now."""
    _C.drain()
    torch.accelerator.reset_peak_memory_stats(existing_index(device))


def reset_accumulated_memory_stats(device: Device = None) -> None:
    """Starts the totals anew: `allocated`, `freed` and the counts of events."""
    _C.drain()
    torch.accelerator.reset_accumulated_memory_stats(existing_index(device))


def mem_get_info(device: Device = None) -> tuple[int, int]:
    """(free, total) bytes of the device's memory; on the CPU platform, of the machine's. Starts the runtime."""
    return torch.accelerator.get_memory_info(existing_index(device))


def empty_cache() -> None:
    """Does nothing: memory that no tensor holds already belongs to PJRT again."""


_ROWS = (
    ("allocated_bytes", "Memory of tensors"),
    ("reserved_bytes", "Memory of tensors and the runtime"),
    ("allocation", "Buffers of tensors"),
    ("segment", "Buffers of tensors and the runtime"),
)
_COLUMNS = (("current", "Now"), ("peak", "Peak"), ("allocated", "Total allocated"), ("freed", "Total freed"))


def memory_summary(device: Device = None, abbreviated: bool = False) -> str:
    """The figures of a device as a table for people; `abbreviated` leaves the runtime's own out."""
    index = existing_index(device)
    stats = memory_stats(index)
    rows = [("", *(title for _, title in _COLUMNS))]
    for name, title in _ROWS[:1] + _ROWS[2:3] if abbreviated else _ROWS:
        shown = _size if name.endswith("bytes") else str
        rows.append((title, *(shown(stats[f"{name}.all.{column}"]) for column, _ in _COLUMNS)))
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = [f"Memory of tpu:{index}; out of memory {stats['num_ooms']} times"]
    for title, *cells in rows:
        lines.append(" | ".join([title.ljust(widths[0]), *(c.rjust(w) for c, w in zip(cells, widths[1:]))]))
    return "\n".join(lines) + "\n"


def _size(count: float) -> str:
    if count < 1024:
        return f"{count} B"
    for unit in ("KiB", "MiB", "GiB"):
        count /= 1024
        if count < 1024:
            return f"{count:.1f} {unit}"
    return f"{count / 1024:.1f} TiB"
