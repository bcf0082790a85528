"""A check that no calls are known for fails its entry's test, and says what to add."""

import pytest

from tests.ops import check_samples


@pytest.mark.parametrize(("check", "entry"), [("no_such_check", "add.Tensor"), ("value_fits_self", "add.Tensor")])
def test_unknown_pair(check: str, entry: str) -> None:
    with pytest.raises(AssertionError, match=f"add a good and a bad call for the check {check} to tests/ops/check"):
        check_samples.pairs(check, entry)
