"""Which of PyTorch's test files are run, and where a checkout has them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Suite:
    """A row of the report: the tests that a file instantiates for the device, or those of one class in it."""

    name: str
    file: str
    of_class: str = ""

    def find(self, checkout: Path) -> Path | None:
        """Its file: as a PyTorch checkout has it, or in the folder itself."""
        places = [checkout / "test" / f"{self.file}.py", checkout / f"{self.file}.py"]
        return next((place for place in places if place.is_file()), None)


FILES = (
    "test_view_ops",
    "test_indexing",
    "test_type_promotion",
    "test_shape_ops",
    "test_tensor_creation_ops",
    "test_sort_and_select",
    "test_scatter_gather_ops",
    "test_reductions",
    "test_serialization",
    "test_dlpack",
    "test_autograd",
)
# PyTorch 2.13 has no file test_random: the tests of random tensors are a class of another one.
RANDOM = Suite("test_random", "test_tensor_creation_ops", of_class="TestRandomTensorCreation")
SUITES = (*(Suite(file, file) for file in FILES), RANDOM)


def named(names: Sequence[str]) -> list[Suite]:
    """The suites of these names; a name that is none of them stands for the test file of that name."""
    known = {suite.name: suite for suite in SUITES}
    return [known.get(name) or Suite(name, name) for name in names] if names else list(SUITES)
