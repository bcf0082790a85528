"""JAX as a tracer only: it must never own the device (design D2)."""

import contextlib
import functools
import os
import sys

_jax_was_here = "jax" in sys.modules
if not _jax_was_here:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402


@functools.cache
def claim(platform: str) -> None:
    """Keeps JAX on the host CPU; raises RuntimeError when the user's JAX holds the TPU that torch is to use."""
    if not _jax_was_here:
        jax.config.update("jax_platforms", "cpu")
    elif platform == "tpu" and "tpu" in (jax.config.jax_platforms or "tpu") and jax.default_backend() == "tpu":
        raise RuntimeError(
            "torchtpu: JAX in this process already holds the TPU. Import torch and use the tpu device before JAX, or set "
            "JAX_PLATFORMS=cpu."
        )
    # No source paths in programs: the same op gives the same bytes in every checkout.
    jax.config.update("jax_traceback_in_locations_limit", 0)


@contextlib.contextmanager
def tracing(precision: str):
    """The state that lowerings are traced in: torch's 64-bit dtypes, and the entry's matmul precision."""
    with jax.enable_x64(True), jax.default_matmul_precision(precision), jax.numpy_dtype_promotion("standard"):
        yield
