"""The operand buffer inside a program: u32 words that hold what may change without a recompile (design D6)."""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.extend.core.primitives import convert_element_type_p

from torchtpu.miss.dtypes import FORMAT_DTYPES


@dataclass
class Words:
    """Takes the words in the order in which csrc/dispatch/execute.cpp writes them: seed, numbers, starts.

    words: the operand buffer, u32[n].
    """

    words: Array
    position: int = field(default=0)

    def key(self) -> Array:
        """The random key of this execution: of its seed, folded with its counter."""
        seed = jax.random.wrap_key_data(self._take(2), impl="threefry2x32")
        counter = self._take(2)
        return jax.random.fold_in(jax.random.fold_in(seed, counter[0]), counter[1])

    def number(self, format: str) -> Array:
        """A 0-d weakly typed array, so that it adapts to the arrays it meets as a Python number would."""
        dtype = FORMAT_DTYPES[format]
        if dtype.kind == "c":
            parts = [self._real(np.dtype(f"f{dtype.itemsize // 2}")) for _ in range(2)]
            value = lax.complex(*parts)
        else:
            value = self._real(dtype)
        return convert_element_type_p.bind(value, new_dtype=dtype, weak_type=True, sharding=None)

    def start(self, wide: bool) -> Array:
        return self._real(np.dtype(np.int64 if wide else np.int32))

    def _real(self, dtype: np.dtype) -> Array:
        words = self._take(dtype.itemsize // 4)
        return lax.bitcast_convert_type(words[0] if words.size == 1 else words, dtype)

    def _take(self, count: int) -> Array:
        taken = lax.slice(self.words, [self.position], [self.position + count])
        self.position += count
        return taken


def count(seeded: bool, formats: list[str], narrow_starts: int, wide_starts: int) -> int:
    """How many words an operand buffer has."""
    numbers = sum(FORMAT_DTYPES[format].itemsize // 4 for format in formats)
    return 4 * seeded + numbers + narrow_starts + 2 * wide_starts


def spec(count: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct((count,), jnp.uint32)
