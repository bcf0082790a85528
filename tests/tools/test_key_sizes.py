"""`sizes: {key: ...}` with two sizes, for an op that is added to a copy of the tree: no op of ops.yaml needs two."""

import os
import subprocess

from tests.tools.scratch import scratch_tree

ENTRY = """
  - custom: "tpu::grid(Tensor self, float height, float width, float step) -> Tensor"
    doc: A matrix of self, with a row and a column for every step.
    expr: jnp.full((rows, columns), self) * step
    sizes: {key: {rows: ceil(height / step), columns: ceil(width / step)}}
    meta: jax
"""

PROGRAM = """
import torch

def grid(height, width, step):
    value = torch.ops.tpu.grid(torch.tensor(3.0, device="tpu"), height, width, step)
    return tuple(value.shape), set(value.flatten().tolist()), torch.tpu.cache_stats()["programs"]

shape, value, programs = grid(4.0, 6.0, 2.0)
assert (shape, value) == ((2, 3), {6.0}), (shape, value)
assert grid(1.5, 3.0, 1.0) == ((2, 3), {3.0}, programs)  # other numbers of the same sizes share the program
for arguments, expected in (((6.0, 4.0, 2.0), (3, 2)), ((4.0, 8.0, 2.0), (2, 4)), ((8.0, 6.0, 2.0), (4, 3))):
    shape, value, now = grid(*arguments)
    assert (shape, value, now > programs) == (expected, {6.0}, True), (arguments, shape, value)
    programs = now
"""


def test_two_sizes_in_the_key() -> None:
    tree = scratch_tree()
    with (tree / "ops.yaml").open("a") as spec:
        spec.write(ENTRY)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TORCHTPU_")}
    for command in (["tools/regen"], ["tools/run", "-c", PROGRAM]):
        result = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
        assert result.returncode == 0, f"{command[0]}\n{result.stdout}{result.stderr}"
