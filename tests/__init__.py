"""Tests. Helpers assert in plain words too: pytest shows the values on both sides of an assert in any of these modules."""

import pytest

pytest.register_assert_rewrite("tests.compare", "tests.device", "tests.ops.distribution", "tests.ops.harness")
