"""Exact samplers on arrays, and a Markov chain for kernels that no factorization fits.

`spectral` needs eigenpairs and then costs the same for any number of items, `elimination` needs only K, `jumps` serves
a K that is not symmetric, `mcmc` needs only entries of L.
"""

from collections.abc import Sequence

import numpy as np

from dpplearn._checks import IntArray


def end_to_end(subsets: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """indptr and indices of subsets, stored one after another."""
    return np.cumsum([0, *map(len, subsets)]), np.concatenate([np.empty(0, np.int64), *subsets])
