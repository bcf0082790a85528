"""Pallas kernels: interpreted on this machine, and lowered for the TPU, beside the plain XLA that stands in for them."""

from typing import Any

import numpy as np
import torch


def arguments(entry: str) -> list[dict[str, Any]]:
    """Calls, as lowerings receive them, to which the kernel of an entry applies."""
    import jax
    import jax.numpy as jnp

    def normal(seed: int, *shape: int) -> jax.Array:
        return jax.random.normal(jax.random.key(seed), shape, jnp.bfloat16)

    if entry == "_scaled_dot_product_fused_attention_overrideable":
        common = {"attn_bias": None, "dropout_p": 0.0, "return_debug_mask": False}
        return [
            {
                "rng_key": jax.random.key(7),
                "query": normal(0, *batch, 256, 128),
                "key": normal(1, *batch, keys, 128),
                "value": normal(2, *batch, keys, 128),
                "is_causal": is_causal,
                "scale": scale,
                **common,
            }
            for batch, keys, is_causal, scale in (((1, 2), 256, False, None), ((2, 1), 256, True, jnp.float32(0.25)))
        ]
    return []


def compare(entry: str, tolerance: dict[str, float]) -> None:
    """The kernel, under every tuning, equals the fallback."""
    import jax
    from jax.experimental.pallas import tpu as pallas_tpu

    from torchtpu.generated.ops import KERNELS

    kernel, calls = KERNELS[entry], arguments(entry)
    assert calls, f"tests/ops/kernels.py knows no arguments for the kernel of {entry}: add some to arguments()"
    with jax.enable_x64(True):
        for number, call in enumerate(calls):
            assert kernel.applies(call), f"{entry}: the kernel does not apply to call {number}"
            expected = kernel.fallback(**call)
            for tuning in list(kernel.tunings())[: None if number == 0 else 1]:
                with pallas_tpu.force_tpu_interpret_mode():
                    found = kernel.kernel(**call, **tuning)
                for left, right in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
                    assert (left.shape, left.dtype) == (right.shape, right.dtype)
                    torch.testing.assert_close(_tensor(left), _tensor(right), **tolerance)


def runs_on(entry: str, platform: str) -> bool:
    """Whether the program of the first call, lowered for the platform, contains the kernel."""
    import jax

    from torchtpu.generated.ops import KERNELS

    call = arguments(entry)[0]
    arrays = {name: value for name, value in call.items() if isinstance(value, jax.Array)}
    static = {name: value for name, value in call.items() if name not in arrays}
    with jax.enable_x64(True):
        traced = jax.jit(lambda arrays: KERNELS[entry](**arrays, **static)).trace(arrays)
        return "tpu_custom_call" in traced.lower(lowering_platforms=(platform,)).as_text()


def _tensor(array: Any) -> torch.Tensor:
    return torch.from_numpy(np.asarray(array, np.int64 if array.dtype == np.int64 else np.float32).copy())
