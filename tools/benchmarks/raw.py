"""A JAX function as a program that PJRT runs with nothing around it: a loop in C++."""

from collections.abc import Callable, Sequence

import jax
from jax.extend.mlir import serialize_portable_artifact
from jaxlib.xla_client import CompileOptions

from torchtpu import _C


def raw_program(function: Callable, shapes: Sequence[tuple[int, ...]], *, donates: bool) -> "_C.RawProgram":
    """Of float32 arguments, of which the first is donated or none."""
    arguments = [jax.ShapeDtypeStruct(shape, "float32") for shape in shapes]
    jitted = jax.jit(function, keep_unused=True, donate_argnums=(0,) if donates else ())
    module = jitted.trace(*arguments).lower(lowering_platforms=(_C.platform(),)).compiler_ir()
    options = CompileOptions()
    options.num_replicas = options.num_partitions = 1
    options.compile_portable_executable = _C.device_count() > 1
    artifact = serialize_portable_artifact(module, _C.stablehlo_version())
    return _C.RawProgram(artifact, options.SerializeAsString(), list(shapes))
