"""The command line that every benchmark has: nothing, --json, or --help."""

import sys


def wants_json(arguments: list[str], usage: str) -> bool:
    """Ends the process after printing `usage` where that is asked for, or where the arguments are others."""
    if arguments not in ([], ["--json"]):
        print(usage.strip())
        sys.exit(arguments not in (["--help"], ["-h"]))
    return bool(arguments)
