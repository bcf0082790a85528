"""The reports of tools/coverage, each a package of this folder: `python coverage_of REPORT [ARGUMENTS]`."""

import importlib
import signal
import sys

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the workers and writes what there is, too
    try:
        sys.exit(importlib.import_module(f"{sys.argv[1]}.main").main(sys.argv[2:]))
    except KeyboardInterrupt:
        sys.exit(130)
