"""What goes into the loops of sampling and comes out of them.

No numba here: the loops read these as they are compiled, and everyone else without importing a compiler.
"""

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Chain(NamedTuple):
    """A Markov chain's set Y with the Cholesky factor C of L_Y."""

    A: Array  # L; or only one row of it, that of the item looked at; or B with L = B B^T
    gram: bool  # whether it is B
    Y: Array
    inside: Array  # (n,) whether an item is in Y
    C: Array
    b: Array  # work space, as long as Y
    z: Array


class Tables(NamedTuple):
    """What sampling needs of a spectrum; made once, read by every block."""

    p: Array  # (h,) probabilities >= 1/2 of the first h columns of V, descending
    hazard: Array  # (m - h,) running sum of -log(1 - p) over the other columns
    guide: Array  # (g + 1,) first column whose hazard passes each of g equal steps
    log_esp: Array  # (k + 1, m + 1) log elementary symmetric polynomials for a k-DPP, else (0, 0)
    V: Array  # (n, m) orthonormal columns
    accept: Array  # (m, n) alias tables of v_j(i)^2; (0, 0) where only a few samples are wanted
    alias: Array  # (m, n) int32


class Jumps(NamedTuple):
    """What `_jump_loops.py` reads; block i has the items from starts[i] to starts[i + 1]."""

    Q: Array  # (n, d)
    left: Array  # (n, d) Q times the W of the block
    W: Array  # (blocks + 1, d, d)
    log_rest: Array  # (blocks + 1,) log det(I + G_i T), descending to 0
    starts: Array  # (blocks + 1,)
    sure: Array  # (m, d) the rows of items that are chosen already, which are not among the n
