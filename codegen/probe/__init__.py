"""Runs what entries name, on small samples: the only part of codegen that imports torch and JAX's tracer."""

import os

# Samples that torch warns of are no news to the author of an entry. Read when torch is imported.
os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
