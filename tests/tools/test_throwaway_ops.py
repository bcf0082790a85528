"""Fields of which ops.yaml has no example, on throwaway entries in a copy of the tree: generated, built and run."""

import os
import subprocess
from pathlib import Path

from tests.tools.scratch import scratch_tree

OP = """
  - custom: "tpu::try_{policy}(Tensor a, Tensor? b, Tensor[] c, Tensor index, float factor) -> (Tensor, Tensor, Tensor)"
    doc: Shows what autocast made of its arguments.
    expr: "(a[index] * jnp.asarray(factor, a.dtype), b, c[0])"
    meta: jax
    autocast: {policy}
"""
POLICIES = ("lower", "fp32", "promote", "fallthrough")
NARROWED = """
  - custom: "tpu::try_halves(Tensor self) -> Tensor"
    doc: Shows an op that the CPU does not have.
    expr: self + self
    meta: jax
    dtypes: {only: [f16, bf16], reason: to see what happens}
"""
# What is added to entries of ATen's ops: policies that are not those of ATen's lists, and a narrowed set.
ADDED = {
    "sinh": "autocast: {policy: lower, reason: to see what happens}",
    "cosh": "autocast: {policy: fallthrough, reason: to see what happens}",
    "abs": "autocast: {policy: fp32, reason: to see what happens}",
    "maximum": "autocast: {policy: promote, reason: to see what happens}",
    "expm1": "dtypes: {only: [f32], reason: to see what happens}",
}

AUTOCAST = """
import torch

bf16, f16, f32, f64, i64 = torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.int64
ops = torch.ops.tpu

def ones(dtype):
    return torch.ones(3, dtype=dtype, device="tpu")

def dtypes(op, a, b, c):
    results = op(ones(a), b and ones(b), [ones(c)], torch.tensor([0, 1], device="tpu"), 2.0)
    assert results[0].tolist() == [2, 2]
    return tuple(result.dtype if result is not None else None for result in results)

assert dtypes(ops.try_lower, f32, bf16, f32) == (f32, bf16, f32)  # nothing happens outside of autocast
with torch.autocast("tpu", bf16):
    assert dtypes(ops.try_lower, f32, f16, f32) == (bf16, bf16, bf16)
    assert dtypes(ops.try_lower, f32, None, f64) == (bf16, None, f64)  # float64 is nobody's to cast
    assert dtypes(ops.try_lower, i64, f32, i64) == (i64, bf16, i64)
    assert dtypes(ops.try_fp32, bf16, f16, f32) == (f32, f32, f32)
    assert dtypes(ops.try_promote, bf16, bf16, bf16) == (bf16, bf16, bf16)
    assert dtypes(ops.try_promote, bf16, None, f32) == (f32, None, f32)
    assert dtypes(ops.try_promote, bf16, f32, i64) == (f32, f32, i64)
    assert dtypes(ops.try_fallthrough, bf16, f16, f32) == (bf16, f16, f32)
    with torch.autocast("tpu", enabled=False):
        assert dtypes(ops.try_lower, f32, f32, f32) == (f32, f32, f32)
with torch.autocast("tpu", f16):
    assert dtypes(ops.try_lower, f32, bf16, f32) == (f16, f16, f16)

with torch.autocast("tpu", bf16):
    assert ones(f32).sinh().dtype == bf16
    assert ones(bf16).cosh().dtype == bf16
    assert ones(bf16).abs().dtype == f32 and ones(bf16).abs_().dtype == bf16
    assert torch.maximum(ones(bf16), ones(f32)).dtype == f32
    x = ones(f32).requires_grad_()
    x.sinh().sum().backward()
    assert x.grad.dtype == f32 and torch.allclose(x.grad.cpu(), torch.ones(3).cosh(), rtol=1e-2)
    assert ones(bf16).exp().dtype == f32  # as in ATen
"""

DTYPES = """
import torch

x = torch.linspace(0, 1, 3, dtype=torch.float64, device="tpu")
assert torch.equal(x.expm1().cpu(), x.cpu().expm1()) and torch.tpu.fallback_counts() == {"aten::expm1": 1}
torch.tpu.reset_fallback_counts()
assert x.float().expm1().dtype == torch.float32 and torch.ops.tpu.try_halves(x.half()).tolist() == [0, 1, 2]
assert torch.tpu.fallback_counts() == {}
try:
    torch.ops.tpu.try_halves(x)
except NotImplementedError as error:
    print(error)
"""


def tool(tree: Path, *command: str, program: str | None = None) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TORCHTPU_")}
    command = (tree / "tools" / command[0], *command[1:])
    result = subprocess.run(command, input=program, cwd=tree, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def test_throwaway_ops() -> None:
    tree = scratch_tree()
    spec = tree / "ops.yaml"
    text = spec.read_text()
    for op, line in ADDED.items():
        assert text.count(f"  - op: {op}\n") == 1
        text = text.replace(f"  - op: {op}\n", f"  - op: {op}\n    {line}\n")
    spec.write_text(text + "".join(OP.format(policy=policy) for policy in POLICIES) + NARROWED)
    tool(tree, "regen")
    tool(tree, "run", "-", program=AUTOCAST)
    said = tool(tree, "run", "-", program=DTYPES)
    assert "torchtpu: aten::expm1 runs on the CPU, since the entry of expm1 takes float32, not float64: to see" in said
    refused = "torchtpu: tpu::try_halves: the entry of tpu::try_halves takes float16, bfloat16, not float64: to see"
    assert refused in said and "(and the CPU has no kernel for the op)" in said
