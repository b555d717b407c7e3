"""Kernels from baskets: what was counted, the likelihood, factors of the kernel, solvers, files."""
