"""When an eager call ends: once it is issued ("strict"), or once it has happened ("debug")."""

import os
import warnings

from torchtpu import _C

_MODES = ("strict", "debug")


def set_eager_mode(mode: str) -> None:
    """In "debug" mode every call waits for its result, so that what fails on the device raises where it was called.

    In "strict" mode, the default, the failure of a call is raised by whatever first needs its result, or by
    torch.tpu.synchronize(), and names the op. TORCHTPU_EAGER chooses the mode for a process. Raises ValueError for any
    other mode.
    """
    if mode not in _MODES:
        raise ValueError(f"eager mode '{mode}'; it can be 'strict' or 'debug'")
    _C.set_waits_for_each_op(mode == "debug")


def get_eager_mode() -> str:
    """The mode that is set: "strict" or "debug"."""
    return _MODES[_C.waits_for_each_op()]


def from_environment() -> None:
    """What TORCHTPU_EAGER says; another word than the modes is a warning, for import torch must not fail because of us."""
    mode = os.environ.get("TORCHTPU_EAGER") or "strict"
    if mode in _MODES:
        set_eager_mode(mode)
    else:
        warnings.warn(f"TORCHTPU_EAGER is '{mode}'; it can be 'strict' or 'debug'", RuntimeWarning, stacklevel=2)
