"""generated/coverage.tsv: what `tools/coverage ops --record` measured, for the tables of OPS.md.

A line per operator of PyTorch's OpInfos and dtype: its ATen name, and of each check whether it passed ("ok" or "no");
nothing where the check does not apply.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

NAME = "coverage.tsv"
CHECKS = ("forward", "backward", "twice", "inplace", "out", "strided")
COLUMNS = ("operator", "aten", "dtype", *CHECKS)


@dataclass(frozen=True)
class Measured:
    operator: str
    aten: str
    dtype: str
    checks: Mapping[str, bool]  # those that apply


def read(text: str) -> list[Measured]:
    rows = [dict(zip(COLUMNS, line.split("\t"), strict=True)) for line in text.splitlines()[1:]]
    return [
        Measured(row["operator"], row["aten"], row["dtype"], {name: row[name] == "ok" for name in CHECKS if row[name]})
        for row in rows
    ]


def write(rows: Iterable[Measured]) -> str:
    words = {True: "ok", False: "no", None: ""}
    lines = [
        "\t".join((row.operator, row.aten, row.dtype, *(words[row.checks.get(name)] for name in CHECKS)))
        for row in sorted(rows, key=lambda row: (row.operator, row.dtype))
    ]
    return "\n".join(["\t".join(COLUMNS), *lines]) + "\n"


def cells(rows: Iterable[Measured]) -> dict[str, str]:
    """By check: "yes", or the dtypes in which it fails; nothing where none applies."""
    dtypes: dict[str, dict[str, bool]] = defaultdict(dict)
    for row in rows:
        for check, passed in row.checks.items():
            dtypes[check][row.dtype] = passed and dtypes[check].get(row.dtype, True)
    failing = {check: [name for name, passed in sorted(of.items()) if not passed] for check, of in dtypes.items()}
    return {check: f"not {', '.join(failing[check])}" if failing.get(check) else "yes" * (check in dtypes) for check in CHECKS}
