"""One set-up at a time per tree."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from environment.paths import BUILD, say, stop


@contextmanager
def lock() -> Iterator[None]:
    """Waits for a set-up of the same tree that runs elsewhere; the kernel frees the lock however that one ends."""
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / "lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another set-up of this tree")
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        except KeyboardInterrupt:
            stop("interrupted; the next set-up continues")
