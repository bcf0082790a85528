"""README.md tells the truth about what can be checked here; the quickstart has a test of its own."""

import re
from pathlib import Path


def test_its_python_runs(root: Path) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```", (root / "README.md").read_text(), re.M | re.S)
    exec(compile(block, "README.md", "exec"), {})


def test_what_it_names_exists(root: Path) -> None:
    text = (root / "README.md").read_text()
    links = re.findall(r"\]\(([^)]+)\)", text)
    paths = re.findall(r"\$ (tools/\w+)(?: (examples/\S+))?", text)
    assert links and paths
    for name in [*links, *(part for pair in paths for part in pair if part)]:
        assert (root / name).exists(), name
