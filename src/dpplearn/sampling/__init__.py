"""Exact samplers that work on arrays, and a Markov chain for kernels that cannot be factorized.

`spectral` needs eigenpairs, and then costs the same for any number of items; `elimination` needs only K; `jumps` is for
a K that is not symmetric; `mcmc` needs only entries of L. This module imports no compiler.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import IntArray

Array = np.ndarray[Any, Any]


class Tables(NamedTuple):
    """The arrays that the spectral sampler needs, made once for all samples."""

    hazard: Array  # (m,) cumulative sum of -log(1 - p) over the columns of V, whose probabilities p descend
    log_esp: Array  # (k + 1, m + 1) log elementary symmetric polynomials for a k-DPP, else (0, 0)
    V: Array  # (n, m) orthonormal columns
    accept: Array  # (m, n) alias tables of v_j(i)^2; (0, 0) if only a few samples are needed
    alias: Array  # (m, n) int32


def end_to_end(subsets: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """indptr and indices of subsets that are stored one after another."""
    return np.cumsum([0, *map(len, subsets)]), np.concatenate([np.empty(0, np.int64), *subsets])
