"""What each op computes, in JAX: pure functions of arrays, a module per family. Nothing here imports torch."""
