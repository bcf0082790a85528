"""Which device an argument means."""

import torch

from torchtpu import _C

Device = torch.device | str | int | None


def device_index(device: Device) -> int:
    """The index in `device`: an int as it is; the current device's for None and for "tpu" without an index.

    Raises ValueError for a device of another type. Whether the device exists is for whoever uses it to see.
    """
    if isinstance(device, int):
        return device
    if device is not None:
        device = torch.device(device)
        if device.type != "tpu":
            raise ValueError(f"Expected a tpu device, but got: {device}")
        if device.index is not None:
            return device.index
    return _C.current_device()


def existing_index(device: Device) -> int:
    """The same, and -1 is the current device's. Raises RuntimeError when there is no such device.

    The runtime has to start to know, unless the device is the current one or the platform is the CPU.
    """
    return _C.resolve_device(device_index(device))
