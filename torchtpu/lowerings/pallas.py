"""A Pallas kernel, used where it applies, beside the plain XLA that computes the same."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
from jax import lax


@dataclass(frozen=True)
class Kernel:
    """What an entry's `pallas` says. Called with the arguments of the entry, it is a lowering.

    when: a predicate over shapes, dtypes and static arguments; it never sees a value.
    fallback: what is computed where `when` is false, and on platforms that have no such kernels.
    tune: the values that each tuning parameter of the kernel may have. The first is used.
    """

    kernel: Callable[..., Any]
    when: Callable[..., bool]
    fallback: Callable[..., Any]
    tune: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def __call__(self, /, **arguments: Any) -> Any:
        if not self.applies(arguments):
            return self.fallback(**arguments)
        # The platform is known when the program is lowered, not while it is traced; the other branch is dropped then.
        return lax.platform_dependent(
            tpu=lambda: self.kernel(**arguments, **next(self.tunings())), default=lambda: self.fallback(**arguments)
        )

    def applies(self, arguments: Mapping[str, Any]) -> bool:
        return bool(self.when(**{name: jax.tree.map(_form, value) for name, value in arguments.items()}))

    def tunings(self) -> Iterator[dict[str, int]]:
        """Every combination of the tuning parameters, the one that is used first."""
        for values in itertools.product(*self.tune.values()):
            yield dict(zip(self.tune, values))


def _form(value: Any) -> Any:
    return jax.ShapeDtypeStruct(value.shape, value.dtype) if isinstance(value, jax.Array) else value
