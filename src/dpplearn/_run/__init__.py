"""How work runs: progress, ending early, threads, what BLAS may use, and who answers Ctrl-C."""
