"""torch.tpu where the extension cannot be loaded: the device has a name, no hardware, and one explanation."""

import types


def module(problem: str) -> types.ModuleType:
    """A device module that PyTorch can ask anything it asks at import or when seeding; every use raises `problem`."""

    def refuse(*args, **kwargs):
        raise RuntimeError(problem)

    def missing(name: str):
        raise AttributeError(f"torch.tpu.{name}: {problem}")

    tpu = types.ModuleType("torch.tpu", problem)
    tpu.is_available = lambda: False
    tpu.device_count = lambda: 0
    tpu.is_initialized = lambda: False
    tpu._is_in_bad_fork = lambda: False
    tpu.manual_seed_all = lambda seed: None
    # What PyTorch calls before the first tensor on the device, and under autocast.
    tpu.init = tpu._lazy_init = tpu.get_amp_supported_dtype = refuse
    tpu.__getattr__ = missing
    return tpu
