"""Does not import: what it needs is not there."""

import no_such_module  # noqa: F401
