"""torch.tpu's random numbers: the default generator of every device. Nothing here starts the runtime on its own."""

import torch

from torchtpu import _C
from torchtpu.index import Device, device_index


def manual_seed(seed: int) -> None:
    """Seeds the current device's default generator. Raises ValueError for a seed outside of [-2**63, 2**64)."""
    _C.default_generator(_C.current_device()).manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds the default generator of every device; torch.manual_seed calls it."""
    generator = _C.default_generator(_C.current_device())
    generator.manual_seed(int(seed))
    _C.seed_default_generators(generator.initial_seed())  # which is what a negative seed stands for


def seed() -> None:
    """Seeds the current device's default generator with a number that nobody chose."""
    _C.default_generator(_C.current_device()).seed()


def seed_all() -> None:
    """Seeds every device's default generator with one number that nobody chose."""
    _C.seed_default_generators(_C.default_generator(_C.current_device()).seed())


def initial_seed() -> int:
    """The seed of the current device's default generator."""
    return _C.default_generator(_C.current_device()).initial_seed()


def get_rng_state(device: Device = "tpu") -> torch.Tensor:
    """The state of the device's default generator: a CPU byte tensor of 16, seed and offset."""
    return _C.default_generator(device_index(device)).get_state()


def set_rng_state(new_state: torch.Tensor, device: Device = "tpu") -> None:
    """Restores what get_rng_state returned. Raises TypeError or RuntimeError for anything else."""
    _C.default_generator(device_index(device)).set_state(new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    """The states of the default generators of all devices, in order."""
    return [get_rng_state(index) for index in range(_C.device_count())]


def set_rng_state_all(new_states: list[torch.Tensor]) -> None:
    """Restores what get_rng_state_all returned."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
