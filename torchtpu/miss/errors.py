"""What went wrong in a lowering, told to the one who can mend it."""

import re
from pathlib import Path

from torchtpu.miss.call import Call


class LoweringError(RuntimeError):
    """A lowering raised, or gave what PyTorch does not expect. Names the op, the entry and the call."""

    def __init__(self, call: Call, problem: str):
        super().__init__(f"torchtpu: the lowering of {call.entry.name} ({_entry_place(call.entry.name)}): {problem}\n  in {call.signature()}")


def _entry_place(entry: str) -> str:
    """Where the entry stands: its line in a checkout, its name elsewhere."""
    spec = Path(__file__).parents[2] / "ops.yaml"
    if spec.exists():
        for number, line in enumerate(spec.read_text().splitlines(), start=1):
            if re.match(rf'\s*- (op|custom): "?{re.escape(entry)}["\s(]', line + " "):
                return f"ops.yaml:{number}"
    return "an entry of ops.yaml"
