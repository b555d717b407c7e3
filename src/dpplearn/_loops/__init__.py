"""Compiled loops: arrays and numbers in, arrays and numbers out.

Nothing outside this package (but rouge's own `_loops`) imports numba, and nothing imports this package
before it first needs a loop: `import dpplearn` stays light. The loops release the GIL and are cached on disk; small
work does not wait for a compiler (`jit.py`). They are driven by ordinary threads over blocks of work, never by numba's
own threading layer, which aborts the process when two Python threads enter it at once.
"""
