"""Which entries of ops.yaml this process has compiled a program for: the proof that a test reached its entry."""

from tests.device import ON_TPU

_entries: set[str] = set()


def compiled_entries() -> set[str]:
    return _entries


if ON_TPU:
    import torchtpu
    from torchtpu import _C

    def _trace(request: dict) -> dict:
        _entries.add(request["entry"])
        return torchtpu._trace(request)

    _C.set_miss_handlers(_trace, torchtpu._second_look)
