"""Runs what entries name, on small samples: the only part of codegen that imports torch and JAX's tracer."""
