"""The generator: ops.yaml in; C++ registrations, JAX lowerings, tests and documentation out (see tools/regen)."""
