"""The programs that a process holds: those that do not fit are unloaded, and nobody notices but the clock."""

import pytest

from tests.runtime.subprocesses import run

PRELUDE = """
import torch
def evictions(): return torch.tpu.cache_stats()["evictions"]
"""


@pytest.mark.parametrize("compile_threads", ["0", "2"])
def test_programs_beyond_the_limit_are_unloaded_and_compiled_again(compile_threads: str) -> None:
    run(
        PRELUDE
        + """
for _ in range(2):
    for n in range(1, 25):
        x = torch.arange(n, dtype=torch.float32)
        assert torch.equal((x.tpu() + 1).cpu(), x + 1)
torch.tpu.synchronize()
stats = torch.tpu.cache_stats()
assert stats["programs"] <= 8 and stats["misses"] == 48 and stats["evictions"] >= 40, stats
""",
        TORCHTPU_CACHE_PROGRAMS="8",
        TORCHTPU_COMPILE_THREADS=compile_threads,
    )


def test_what_is_used_stays() -> None:
    run(
        PRELUDE
        + """
used = torch.ones(2, 3).tpu()
for n in range(1, 33):
    used.exp()
    torch.ones(n).tpu().neg()
stats = torch.tpu.cache_stats()
assert stats["misses"] == 33, stats
""",
        TORCHTPU_CACHE_PROGRAMS="8",
    )


def test_threads_that_unload_what_others_run() -> None:
    run(
        PRELUDE
        + """
import concurrent.futures, random
def work(seed):
    order = random.Random(seed)
    for _ in range(60):
        n = order.randrange(1, 7)
        x = torch.arange(n, dtype=torch.float32)
        y = x.tpu()
        for _ in range(5):
            y = (y * 2 - 1).clamp(-3, 9)
            x = (x * 2 - 1).clamp(-3, 9)
        assert torch.equal(y.cpu(), x)
with concurrent.futures.ThreadPoolExecutor(4) as pool: list(pool.map(work, range(4)))
assert evictions() > 20, evictions()
""",
        TORCHTPU_CACHE_PROGRAMS="4",
    )


def test_programs_give_way_before_the_process_runs_out_of_memory_mappings() -> None:
    # Each program of the CPU platform takes several of them. A process that has none left used to crash.
    run(
        PRELUDE
        + """
import ctypes, mmap
def mappings(): return sum(1 for _ in open("/proc/self/maps"))
most = int(open("/proc/sys/vm/max_map_count").read())
torch.ones(3).tpu().add(1)
libc = ctypes.CDLL(None)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
flags, protections = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, (mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE)
for i in range(min(most - mappings() - 600, 1_000_000)): libc.mmap(None, mmap.PAGESIZE, protections[i % 2], flags, -1, 0)  # neighbours do not merge
before, scarce = evictions(), mappings() > most // 4 * 3  # or more are allowed than a test can take: then nothing has to give way
for n in range(5, 155):
    x = torch.arange(n, dtype=torch.float32).flip(0)
    assert torch.equal(x.tpu().sort().values.cpu(), x.sort().values)
assert (evictions() - before > 60) == scarce, (evictions(), scarce)
"""
    )


@pytest.mark.parametrize("text", ["0", "-1", "few"])
def test_a_limit_that_is_none(text: str) -> None:
    result = run("import torch; torch.ones(3, device='tpu').add(1)", check=False, TORCHTPU_CACHE_PROGRAMS=text)
    said = f"ValueError: torchtpu: TORCHTPU_CACHE_PROGRAMS is '{text}'; it can be a whole number, 1 or more"
    assert result.stderr.splitlines()[-1] == said
