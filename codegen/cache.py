"""What the expensive rules found, by a hash of everything that they looked at."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path


class Verdicts:
    """A dictionary from fingerprints to messages, kept in a file; only what this run asked for stays in it."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._known: dict[str, list[str]] = _read(file)
        self._used: dict[str, list[str]] = {}

    def get(self, parts: Iterable[str], find: Callable[[], list[str]]) -> list[str]:
        """The verdict on `parts`, found now if it is not known."""
        fingerprint = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        if fingerprint not in self._used:
            known = self._known.get(fingerprint)
            self._used[fingerprint] = find() if known is None else known
        return self._used[fingerprint]

    def save(self) -> None:
        if self._file is None or not self._used or self._used == self._known:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        beside = self._file.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps(self._used, indent=1, sort_keys=True))
        os.replace(beside, self._file)


def _read(file: Path | None) -> dict[str, list[str]]:
    try:
        return json.loads(file.read_text()) if file else {}
    except (OSError, ValueError):
        return {}  # a cache that cannot be read is an empty one
