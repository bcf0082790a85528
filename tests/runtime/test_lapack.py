"""The handlers that linear algebra needs on the CPU platform: when they are registered, and where they are not called."""

import jax
import jax.numpy as jnp
import pytest

from tests.runtime.subprocesses import run
from torchtpu.miss import handlers
from torchtpu.miss.call import ENTRIES


def test_they_are_registered_by_the_first_program_that_needs_them() -> None:
    run(
        """
        import sys, torch
        x = torch.eye(3, device="tpu") * 4
        (x @ x).cpu()
        from torchtpu.miss import handlers
        assert not handlers._registered and "scipy" not in sys.modules
        torch.linalg.cholesky(x).cpu()
        assert handlers._registered == {"lapack_spotrf_ffi"}
        """.replace("\n        ", "\n"),
        TORCHTPU_FALLBACK="error",
    )


def test_no_handler_is_called_on_a_tpu() -> None:
    with jax.enable_x64(True):
        for name in ("linalg_cholesky_ex", "_linalg_eigh", "_linalg_svd", "linalg_lu_factor_ex", "linalg_qr"):
            entry = ENTRIES[name]
            flags = {param.name: "L" if param.name == "UPLO" else True for param in entry.params[1:]}
            flags |= {"mode": "reduced"} if "mode" in flags else {"driver": None} if "driver" in flags else {}
            traced = jax.jit(lambda A, entry=entry, flags=flags: _values(entry.lowering(A, **flags))).trace(jnp.eye(3))
            called = {platform: _handlers(traced, platform) for platform in ("cpu", "tpu")}
            assert called["cpu"] and not called["tpu"], name


def _values(result):
    return result.value if hasattr(result, "ok") else result


def _handlers(traced, platform: str) -> frozenset[str]:
    return handlers.needed_by(traced.lower(lowering_platforms=(platform,)).compiler_ir())


def test_an_unknown_handler_is_named() -> None:
    def program(x):
        return jax.ffi.ffi_call("lapack_nothing_ffi", jax.ShapeDtypeStruct((3,), jnp.float32))(x)

    traced = jax.jit(program).trace(jnp.ones(3, jnp.float32))
    assert _handlers(traced, "cpu") == {"lapack_nothing_ffi"}
    with pytest.raises(RuntimeError, match="calls lapack_nothing_ffi, of which the CPU platform knows nothing"):
        handlers.register(frozenset({"lapack_nothing_ffi"}))
