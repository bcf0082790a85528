"""Pallas kernels for the specs of these tests; nothing runs them."""
