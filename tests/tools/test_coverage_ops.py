"""tools/coverage ops: it tells what works from what does not, and one operator's failure from another's."""

import subprocess
from pathlib import Path


def coverage(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [root / "tools" / "coverage", "ops", "--workers", "1", *options]
    return subprocess.run([*map(str, command)], capture_output=True, text=True)


def test_each_check_of_an_operator_has_a_line(root: Path, tmp_path: Path) -> None:
    done = coverage(root, "--match", "^(add|sort|bernoulli)$", "--samples", "1", "--tsv", str(tmp_path / "ops.tsv"))
    assert done.returncode == 0, done.stdout + done.stderr
    header, *rows = (line.split("\t") for line in (tmp_path / "ops.tsv").read_text().splitlines())
    assert header == ["operator", "dtype", "check", "outcome", "seconds", "error"]
    found = {tuple(row[:3]) for row in rows}
    assert {("add", dtype, check) for dtype in ("float32", "int64", "bool") for check in ("forward", "out")} <= found
    assert ("sort", "float32", "backward") in found and ("sort", "int64", "backward") not in found
    assert {row[3] for row in rows} == {"passed"}
    assert "crashes: 0; hangs: 0; without an entry: 0" in done.stdout


def test_no_operator_of_that_name(root: Path) -> None:
    done = coverage(root, "--match", "no_such_operator")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "tools/coverage: no operator's name contains a match of 'no_such_operator'\n"


def test_an_interrupt_ends_it_and_keeps_what_there_is(root: Path, tmp_path: Path) -> None:
    command = [root / "tools" / "coverage", "ops", "--tsv", tmp_path / "ops.tsv", "-v", "--workers", "1"]
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if "passed" in line:
                break
        process.terminate()
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert len((tmp_path / "ops.tsv").read_text().splitlines()) >= 2
