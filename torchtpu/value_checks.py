"""Whether programs look at values that the CPU would refuse: indices out of range, integer divisions by zero."""

import os
import warnings

from torchtpu import _C

_WORDS = {"1": True, "0": False}


def set_value_checks(enabled: bool) -> None:
    """Turns the checks of indices and integer divisors on, the default, or off.

    An op that checks waits for its verdict, and raises what PyTorch's CPU raises. Without checks it is asynchronous like
    any other; an index out of range then reads or writes some element of the tensor or none, and an integer divided by
    zero gives any number. (Only a call that has to be compiled may raise all the same.) TORCHTPU_VALUE_CHECKS=0 turns
    them off for a process.
    """
    _C.set_checks_values(bool(enabled))


def get_value_checks() -> bool:
    """Whether they are on."""
    return _C.checks_values()


def from_environment() -> None:
    """What TORCHTPU_VALUE_CHECKS says; another word than 0 and 1 is a warning, for import torch must not fail because of us."""
    word = os.environ.get("TORCHTPU_VALUE_CHECKS") or "1"
    if word in _WORDS:
        set_value_checks(_WORDS[word])
    else:
        warnings.warn(f"TORCHTPU_VALUE_CHECKS is '{word}'; it can be 1 or 0", RuntimeWarning, stacklevel=2)
