"""LAPACK for the CPU platform: the plugin has none, but takes jaxlib's, which JAX's lowerings call by name (design D2)."""

import functools
from typing import Any

from jaxlib.mlir import ir

from torchtpu import _C

_registered: set[str] = set()


def needed_by(module: Any) -> frozenset[str]:
    """The handlers that the custom calls of an MLIR module go to; without them it is neither compiled nor loaded."""
    names = set()

    def visit(operation: ir.Operation) -> ir.WalkResult:
        # JAX marks calls of the typed interface so; the others are XLA's own.
        if operation.name == "stablehlo.custom_call" and "mhlo.backend_config" in operation.attributes:
            names.add(operation.attributes["call_target_name"].value)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return frozenset(names)


def register(names: frozenset[str]) -> None:
    """Gives the plugin those of the handlers that it has not been given before. Raises RuntimeError for unknown ones."""
    for name in sorted(names - _registered):
        handler = _lapack().get(name)
        if handler is None:
            raise RuntimeError(f"torchtpu: a program calls {name}, of which the CPU platform knows nothing; jaxlib has no such handler")
        _C.register_host_handler(name, handler)
        _registered.add(name)


@functools.cache
def _lapack() -> dict[str, Any]:
    """jaxlib's handlers by name. They call scipy's LAPACK, whose import takes 300 ms."""
    from jaxlib import lapack
    from jaxlib.cpu import _lapack

    _lapack.initialize()
    return {name: handler for name, handler, _ in lapack.registrations()["cpu"]}
