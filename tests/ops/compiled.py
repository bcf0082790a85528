"""What the programs are that this process has compiled, by entry of ops.yaml.

That a test reached its entry, and which programs of float32 alone compute in 64 bits, which a TPU emulates. (ui32 are the
words in which numbers and offsets travel.)
"""

import re

from tests.device import ON_TPU

_entries: set[str] = set()
_wide: dict[str, str] = {}
_watched: list[str] = []
# Tensors, not single numbers such as a loop's counter; and operands and results, not attributes such as a padding.
_WIDE = re.compile(r"tensor<[\dx]+x(?:f64|u?i64|complex<f64>)>")
_ATTRIBUTES = re.compile(r"<\{.*?\}>|\{[^{}]*=[^{}]*\}")


def compiled_entries() -> set[str]:
    return _entries


def watch(entry: str) -> None:
    """From now on, look at the programs of this entry, and of no other."""
    _watched[:] = [entry]


def computed_in_64_bits() -> dict[str, str]:
    """By entry, a statement of such a program."""
    return _wide


def _look(entry: str, artifact: bytes) -> None:
    with ir.Context() as context:
        module = stablehlo.deserialize_portable_artifact(context, artifact)
        lines = [_ATTRIBUTES.sub("", line) for line in str(module).splitlines()]
    (signature,) = [line for line in lines if "func.func public @main" in line]
    # A constant that only serves to be narrowed is folded by XLA.
    computed = [line for line in lines if _WIDE.search(line) and "stablehlo.constant" not in line]
    given, _, made = signature.partition("->")
    narrow = _types(given) <= {"f32", "ui32"} and _types(made) <= {"f32", "i1"} and "<0x" not in signature
    if computed and narrow:
        _wide.setdefault(entry, computed[0].strip())


def _types(signature: str) -> set[str]:
    """Of the elements of its tensors."""
    return set(re.findall(r"tensor<(?:\d+x)*([\w<>]+?)>", signature))


if ON_TPU:
    import torchtpu
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    from torchtpu import _C

    def _trace(request: dict) -> dict:
        entry = request["entry"]
        _entries.add(entry)
        reply = torchtpu._trace(request)
        if "stablehlo" in reply and entry in _watched:
            _look(entry, reply["stablehlo"])
        return reply

    _C.set_miss_handlers(_trace, torchtpu._second_look)
