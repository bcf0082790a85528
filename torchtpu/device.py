"""torch.tpu: the module by which PyTorch and its libraries ask the device for what is not a tensor operation.

Nothing here starts the device's runtime before it is needed: querying availability, seeding, or looking at memory in a
process that never touches the device leaves it untouched, so that the process can still fork.
"""

import atexit
import dataclasses
import os
import re

import torch

from torchtpu import _C

# Libraries read the device's name from the module's: torch.get_device_module().__name__.split(".")[-1].
__name__ = "torch.tpu"

_Device = torch.device | str | int | None

_bad_fork = False
_seed_of_other_devices: int | None = None


def is_available() -> bool:
    """Whether a tpu device can be used: a PJRT plugin is there to run it. Does not start it."""
    if _C.initialized():
        return True
    try:
        _C.choose_plugin()
    except RuntimeError:
        return False
    return True


def is_initialized() -> bool:
    """Whether the device's runtime is running in this process."""
    return _C.initialized() and not _bad_fork


def __getattr__(name: str) -> bool:
    if name == "_initialized":  # what torch.utils.checkpoint asks before it saves the random state
        return is_initialized()
    raise AttributeError(f"module 'torch.tpu' has no attribute '{name}'")


def init() -> None:
    """Starts the device's runtime, which otherwise starts at its first use. Raises what prevents it."""
    global _seed_of_other_devices
    if _bad_fork:
        raise RuntimeError(
            "Cannot re-initialize TPU in forked subprocess. "
            "To use TPU with multiprocessing, you must use the 'spawn' start method"
        )
    _C.initialize()
    if _seed_of_other_devices is not None:
        seed, _seed_of_other_devices = _seed_of_other_devices, None
        _seed_devices(range(1, device_count()), seed)


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


# Devices


def device_count() -> int:
    """The number of tpu devices of this process; 0 when there are none."""
    return _C.device_count() if is_available() and not _bad_fork else 0


def current_device() -> int:
    """The index of this thread's current device."""
    return _C.current_device()


def set_device(device: _Device) -> None:
    """Makes `device` this thread's current one. Prefer `with torch.tpu.device(...)`."""
    _C.set_device(_index(device))


def _index(device: _Device) -> int:
    if isinstance(device, int):
        return device
    if device is not None:
        device = torch.device(device)
        if device.type != "tpu":
            raise ValueError(f"Expected a tpu device, but got: {device}")
        if device.index is not None:
            return device.index
    return _C.current_device()


class device:
    """Context manager: `device` is current inside, the previous one is again afterwards."""

    def __init__(self, device: _Device):
        self.index = _index(device)

    def __enter__(self) -> None:
        self.previous = _C.exchange_device(self.index)

    def __exit__(self, *exception) -> None:
        _C.set_device(self.previous)


class device_of(device):
    """Context manager: the device of `obj`, a tensor or a storage, is current inside, if it is a tpu."""

    def __init__(self, obj):
        super().__init__(obj.device if obj.device.type == "tpu" else None)


def synchronize(device: _Device = None) -> None:
    """Waits until everything issued to `device` has finished; raises what failed meanwhile."""
    if _C.initialized():
        _C.synchronize(_index(device))


# Facts


@dataclasses.dataclass(frozen=True)
class DeviceProperties:
    """What get_device_properties tells. On the CPU platform the device's memory is the machine's."""

    name: str
    total_memory: int
    platform: str
    platform_version: str


def get_device_name(device: _Device = None) -> str:
    """The kind of the device in its runtime's words, such as "TPU v6e"."""
    return _C.device_kind(_index(device))


def get_device_properties(device: _Device = None) -> DeviceProperties:
    return DeviceProperties(get_device_name(device), mem_get_info(device)[1], _C.platform(), _C.platform_version())


def get_device_capability(device: _Device = None) -> tuple[int, int]:
    """(TPU generation, 0): (6, 0) for a TPU v6e. (0, 0) where no TPU is behind the device."""
    generation = re.search(r"TPU\D*(\d+)", get_device_name(device))
    return (int(generation[1]) if generation else 0, 0)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Always true: bfloat16 is a TPU's native type."""
    return True


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The dtypes that torch.autocast("tpu") may lower to."""
    return [torch.bfloat16, torch.float16]


# Random numbers


def manual_seed(seed: int) -> None:
    """Seeds the current device's default generator."""
    _seed_devices([current_device()], int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds the default generator of every device; torch.manual_seed calls it."""
    global _seed_of_other_devices
    _seed_devices([0], int(seed))
    # How many more there are is known only to the runtime, and seeding must not start it.
    if _C.initialized():
        _seed_devices(range(1, device_count()), int(seed))
    else:
        _seed_of_other_devices = int(seed)


def _seed_devices(devices, seed: int) -> None:
    for index in devices:
        _C.default_generator(index).manual_seed(seed)


def seed() -> None:
    """Seeds the current device's default generator with a number that nobody chose."""
    _C.default_generator(current_device()).seed()


def seed_all() -> None:
    """Seeds every device's default generator with one number that nobody chose."""
    seed()
    manual_seed_all(initial_seed())


def initial_seed() -> int:
    """The seed of the current device's default generator."""
    return _C.default_generator(current_device()).initial_seed()


def get_rng_state(device: _Device = "tpu") -> torch.Tensor:
    """The state of the device's default generator, a CPU byte tensor."""
    return _C.default_generator(_index(device)).get_state()


def set_rng_state(new_state: torch.Tensor, device: _Device = "tpu") -> None:
    """Restores what get_rng_state returned."""
    _C.default_generator(_index(device)).set_state(new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state_all(new_states: list[torch.Tensor]) -> None:
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


# Memory


def memory_stats(device: _Device = None) -> dict[str, int]:
    """Bytes that live tensors hold on the device, now and at most since reset_peak_memory_stats."""
    stats = _C.memory_stats(_index(device)) if _C.initialized() else {}
    return {f"allocated_bytes.all.{when}": stats.get(f"allocated_bytes.{when}", 0) for when in ("current", "peak")}


def memory_allocated(device: _Device = None) -> int:
    return memory_stats(device)["allocated_bytes.all.current"]


def max_memory_allocated(device: _Device = None) -> int:
    return memory_stats(device)["allocated_bytes.all.peak"]


def reset_peak_memory_stats(device: _Device = None) -> None:
    if _C.initialized():
        _C.reset_peak_memory_stats(_index(device))


def mem_get_info(device: _Device = None) -> tuple[int, int]:
    """(free, total) bytes of the device's memory; on the CPU platform, of the machine's."""
    stats = _C.memory_stats(_index(device))
    total = stats["bytes_limit"]
    if total > 0:
        return total - stats["allocated_bytes.current"], total
    page = os.sysconf("SC_PAGE_SIZE")
    return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page


def empty_cache() -> None:
    """Does nothing: memory that no tensor holds already belongs to the runtime again."""


# What torchtpu adds


def cache_stats() -> dict[str, float]:
    """The compile cache since the process began: programs, hits, misses, compile_seconds."""
    return _C.cache_stats()


def fallback_counts() -> dict[str, int]:
    """How often each op ran on the CPU since it has no entry in ops.yaml, or none for these dtypes. You want none."""
    return _C.fallback_counts()


def reset_fallback_counts() -> None:
    _C.reset_fallback_counts()
