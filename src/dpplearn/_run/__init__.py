"""Runs work: progress, ending early, threads and processes, limits of BLAS threads, and Ctrl-C."""
