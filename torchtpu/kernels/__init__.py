"""Pallas kernels for the TPU, by family. Each entry of ops.yaml that names one also names plain XLA that computes the same."""
