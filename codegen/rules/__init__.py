"""The rules that a spec keeps: one function per id, whose docstring is what `tools/regen explain ID` prints."""

# Each module registers its rules.
from codegen.rules import form, implementation, names, probes, promises, torch_ops  # noqa: F401
from codegen.rules.registry import RULES, Context, check

__all__ = ["RULES", "Context", "check"]
