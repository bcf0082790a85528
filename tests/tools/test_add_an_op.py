"""examples/add_an_op.md, followed to the letter in a copy of the tree: its commands run and print what it says."""

import doctest
import os
import re
import subprocess
from pathlib import Path

from tests.tools.scratch import scratch_tree

PAGE = "examples/add_an_op.md"


def commands(page: str) -> list[tuple[str, str]]:
    """(command, expected output) of every console block: a command is a line after "$ ", with its "> " lines."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"^```console\n(.*?)^```", page, re.M | re.S):
        for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
            lines = step.splitlines(keepends=True)
            split = 1
            while split < len(lines) and lines[split].startswith(">"):
                split += 1
            command = "".join(re.sub("^> ?", "", line) for line in lines[:split])
            found.append((command, "".join(lines[split:])))
    return found


def test_the_page_as_printed(root: Path) -> None:
    tree = scratch_tree()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TORCHTPU_")}
    steps = commands((root / PAGE).read_text())
    assert len(steps) >= 4
    for command, expected in steps:
        result = subprocess.run(command, shell=True, cwd=tree, env=environment, capture_output=True, text=True)
        assert result.returncode == 0, f"$ {command}{result.stdout}{result.stderr}"
        matches = doctest.OutputChecker().check_output(expected, result.stdout, doctest.ELLIPSIS)
        assert not expected or matches, f"$ {command}printed:\n{result.stdout}the page says:\n{expected}"
