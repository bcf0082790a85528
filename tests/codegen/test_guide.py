"""codegen/README.md quotes the files that it names, as they are."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "codegen" / "README.md"
QUOTES = re.findall(r"^<!-- from (\S+) -->\n```\w+\n(.*?)^```", PAGE.read_text(), re.M | re.S)


def test_it_quotes_both_ops_from_entry_to_test() -> None:
    assert {name.split("/")[0] for name, _ in QUOTES} == {"ops.yaml", "generated", "torchtpu", "tests"}


@pytest.mark.parametrize(("name", "quote"), QUOTES, ids=[f"{name}-{number}" for number, (name, _) in enumerate(QUOTES)])
def test_a_quote_stands_in_its_file(name: str, quote: str) -> None:
    assert quote in (ROOT / name).read_text(), f"codegen/README.md misquotes {name}"


def test_files_and_links_exist() -> None:
    page = PAGE.read_text()
    linked = re.findall(r"\]\(([^)]+)\)", page)
    listed = [f"../codegen/{name}" for row in re.findall(r"^\| (`.+?) \|", page, re.M) for name in re.findall("`(.+?)`", row)]
    assert [name for name in linked + listed if not (PAGE.parent / name).exists()] == []
