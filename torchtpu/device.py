"""torch.tpu: the module by which PyTorch and its libraries ask the device for what is not a tensor operation.

Nothing here starts the device's runtime before it is needed: querying availability, seeding, or looking at memory in a
process that never touches the device leaves it untouched, so that the process can still fork.
"""

import atexit
import dataclasses
import os
import re

import torch

from torchtpu import _C, eager_mode, memory, random, streams, value_checks
from torchtpu.eager_mode import get_eager_mode, set_eager_mode
from torchtpu.index import Device, device_index
from torchtpu.memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
)
from torchtpu.random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from torchtpu.streams import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)
from torchtpu.value_checks import get_value_checks, set_value_checks

# Libraries read the device's name from the module's: torch.get_device_module().__name__.split(".")[-1].
__name__ = "torch.tpu"

_bad_fork = False


def is_available() -> bool:
    """Whether a tpu device can be used: a PJRT plugin is there to run it. Does not start it."""
    return _C.is_available()


def is_initialized() -> bool:
    """Whether the device's runtime is running in this process."""
    return _C.initialized() and not _bad_fork


def __getattr__(name: str) -> bool:
    if name == "_initialized":  # what torch.utils.checkpoint asks before it saves the random state
        return is_initialized()
    raise AttributeError(f"module 'torch.tpu' has no attribute '{name}'")


def init() -> None:
    """Starts the device's runtime, which otherwise starts at its first use. Raises what prevents it."""
    if _bad_fork:
        raise RuntimeError(
            "Cannot re-initialize TPU in forked subprocess. "
            "To use TPU with multiprocessing, you must use the 'spawn' start method"
        )
    _C.initialize()


_lazy_init = init  # PyTorch calls it before the first tensor on the device.


def _is_in_bad_fork() -> bool:
    """Whether this process was forked from one that had the runtime, whose threads do not survive a fork."""
    return _bad_fork


def _after_fork_in_child() -> None:
    global _bad_fork
    _bad_fork = _C.initialized()


os.register_at_fork(after_in_child=_after_fork_in_child)


def _shut_down() -> None:
    if not _bad_fork:
        _C.shut_down()


atexit.register(_shut_down)
eager_mode.from_environment()
value_checks.from_environment()


# Devices


def device_count() -> int:
    """The number of tpu devices of this process; 0 when there are none. Starts the runtime where only it can tell."""
    return _C.device_count() if is_available() and not _bad_fork else 0


def current_device() -> int:
    """The index of this thread's current device."""
    return _C.current_device()


def set_device(device: Device) -> None:
    """Makes `device` this thread's current one; a negative index does nothing. Prefer `with torch.tpu.device(...)`.

    Raises RuntimeError for a device that does not exist, ValueError for one of another type.
    """
    index = device_index(device)
    if index >= 0:
        _C.set_device(index)


class device:
    """Context manager: `device` is current inside, the previous one afterwards. A negative index does nothing."""

    def __init__(self, device: Device):
        self.idx = device_index(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = _C.exchange_device(max(self.idx, -1))

    def __exit__(self, *exception) -> None:
        _C.set_device(self.prev_idx)


class device_of(device):
    """Context manager: the device of `obj`, a tensor or a storage, is current inside, if it is a tpu."""

    def __init__(self, obj):
        super().__init__(obj.device if obj.device.type == "tpu" else -1)


def synchronize(device: Device = None) -> None:
    """Waits until everything issued to `device` has finished; raises what failed meanwhile."""
    if _C.initialized():
        _C.synchronize(device_index(device))


def ipc_collect() -> None:
    """Does nothing: no process shares its device memory with another one."""


# Facts


@dataclasses.dataclass(frozen=True)
class DeviceProperties:
    """What get_device_properties tells. On the CPU platform the device's memory is the machine's."""

    name: str
    total_memory: int
    platform: str
    platform_version: str


def get_device_name(device: Device = None) -> str:
    """The kind of the device in its runtime's words, such as "TPU v6e"."""
    return _C.device_kind(device_index(device))


def get_device_properties(device: Device = None) -> DeviceProperties:
    return DeviceProperties(get_device_name(device), mem_get_info(device)[1], _C.platform(), _C.platform_version())


def get_device_capability(device: Device = None) -> tuple[int, int]:
    """(TPU generation, 0): (6, 0) for a TPU v6e. (0, 0) where no TPU is behind the device."""
    generation = re.search(r"TPU\D*(\d+)", get_device_name(device))
    return (int(generation[1]) if generation else 0, 0)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Always true: bfloat16 is a TPU's native type."""
    return True


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The dtypes that torch.autocast("tpu") may lower to."""
    return [torch.bfloat16, torch.float16]


# What torchtpu adds


def cache_stats() -> dict[str, float]:
    """The compile cache since the process began: programs (loaded ones), hits, misses, evictions, compile_seconds."""
    return _C.cache_stats()


def fallback_counts() -> dict[str, int]:
    """How often each op ran on the CPU since it has no entry in ops.yaml, or none for these dtypes. You want none."""
    return _C.fallback_counts()


def reset_fallback_counts() -> None:
    _C.reset_fallback_counts()
