"""No program of views, writes, resizes and copies differs from the CPU's: random ones, and those that once did."""

from hypothesis import settings

from tests.semantics.programs import Programs

TestPrograms = Programs.TestCase
TestPrograms.settings = settings(max_examples=200, stateful_step_count=25, deadline=None, derandomize=True, print_blob=True)
