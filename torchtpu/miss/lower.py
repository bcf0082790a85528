"""From a traced JAX function to what the PJRT plugin takes."""

import functools
from typing import Any

from jax.extend.mlir import serialize_portable_artifact
from jaxlib import xla_client

from torchtpu.miss import handlers


def to_artifact(traced: Any, platform: str, stablehlo_version: str) -> bytes:
    """A portable StableHLO artifact: MLIR bytecode of the version that the plugin reports."""
    module = traced.lower(lowering_platforms=(platform,)).compiler_ir()
    if platform == "cpu":
        handlers.register(handlers.needed_by(module))
    return serialize_portable_artifact(module, stablehlo_version)


@functools.cache
def compile_options(portable: bool) -> bytes:
    """A CompileOptionsProto for one device of the process.

    portable: whichever device it will be. It costs 0.8 us a call, so a process with one device goes without.
    """
    options = xla_client.CompileOptions()
    options.num_replicas = options.num_partitions = 1
    options.compile_portable_executable = portable
    return options.SerializeAsString()
