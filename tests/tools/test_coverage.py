"""tools/coverage upstream: its counts, over a test file that does what upstream's do at their worst."""

import json
import subprocess
from pathlib import Path

import pytest

SUITE = """
import os
import signal
import time

import torch
from torch.testing._internal.common_device_type import dtypes, instantiate_device_type_tests, onlyCUDA
from torch.testing._internal.common_utils import TestCase

class TestNotOfTheDevice(TestCase):
    def test_is_not_collected(self):
        pass

class TestFake(TestCase):
    def test_a_crash(self, device):
        os.write(2, b"the library says why\\n")
        os.kill(os.getpid(), signal.SIGSEGV)

    @dtypes(torch.float32, torch.int64)
    def test_passes(self, device, dtype):
        self.assertEqual(torch.ones(2, device=device, dtype=dtype).cpu(), torch.ones(2, dtype=dtype))

    def test_fails(self, device):
        raise ValueError("no such luck")

    def test_hangs(self, device):
        time.sleep(1000)

    @onlyCUDA
    def test_skipped(self, device):
        pass

    def test_z_passes(self, device):
        pass

instantiate_device_type_tests(TestFake, globals())
"""


def coverage(root: Path, checkout: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [root / "tools" / "coverage", "upstream", checkout, *options]
    return subprocess.run([*map(str, command)], capture_output=True, text=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "test_fake.py").write_text(SUITE)
    return tmp_path


def test_no_test_loses_another(root: Path, checkout: Path) -> None:
    report = checkout / "report.json"
    done = coverage(root, checkout, "--file", "test_fake", "--timeout", "10", "--json", str(report))
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[1].split()[:7] == ["test_fake", "7", "3", "3", "1", "42.8%", "50.0%"]

    fake = json.loads(report.read_text())["files"]["test_fake"]
    assert [fake[count] for count in ("collected", "passed", "failed", "skipped")] == [7, 3, 3, 1]
    errors = {failure["test"].rpartition("::")[2]: failure["error"] for failure in fake["failures"]}
    assert errors == {
        "test_a_crash_tpu": "crash: SIGSEGV: the library says why",
        "test_fails_tpu": "ValueError: no such luck",
        "test_hangs_tpu": "no end after 10 s",
    }
    (failed,) = [failure for failure in fake["failures"] if "test_fails" in failure["test"]]
    assert failed["statement"] == 'raise ValueError("no such luck")'


def test_a_part_of_a_file(root: Path, checkout: Path) -> None:
    done = coverage(root, checkout, "--file", "test_fake", "-k", "passes", "--sample", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[1].split()[:5] == ["test_fake", "2", "2", "0", "0"]


def test_a_file_that_cannot_be_imported(root: Path, checkout: Path) -> None:
    (checkout / "test" / "test_broken.py").write_text("import no_such_module\n")
    files = [f"--file=test_{name}" for name in ("broken", "view_ops", "fake")]
    done = coverage(root, checkout, *files, "-k", "z")
    assert done.returncode == 1
    broken, missing, fake, total = done.stdout.splitlines()[1:]
    assert broken.split(maxsplit=1) == ["test_broken", "E   ModuleNotFoundError: No module named 'no_such_module'"]
    assert missing.split(maxsplit=1) == ["test_view_ops", "not in this checkout"]
    assert fake.split()[:3] == ["test_fake", "1", "1"] and total.split()[:3] == ["all", "1", "1"]


def test_no_file_at_all(root: Path, tmp_path: Path) -> None:
    done = coverage(root, tmp_path, "--file", "test_dlpack")
    assert (done.returncode, done.stderr) == (2, f"tools/coverage: no test_dlpack in {tmp_path}\n")
