"""Size expressions in C++."""

import pytest

from codegen.emit.cpp_expr import Unsupported, names_in, to_cpp


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("ceil((end - start) / step)", "ceil((end - start) / step)"),
        ("max(n, 0) * 2", "max(n, 0.0) * 2.0"),
        ("max(lengths) + 1", "largest(lengths) + 1.0"),
        ("-n + 1", "(-n) + 1.0"),
        ("n", "n"),
    ],
)
def test_to_cpp(expression: str, expected: str) -> None:
    assert to_cpp(expression) == expected


@pytest.mark.parametrize("expression", ["n ** 2", "round(n)", "n if n else 1", "True", "'a'", "f.g(n)", "ceil"])
def test_unsupported(expression: str) -> None:
    with pytest.raises(Unsupported):
        to_cpp(expression)


def test_names_in() -> None:
    assert names_in("ceil((end - start) / step) + start") == ["end", "start", "step"]
