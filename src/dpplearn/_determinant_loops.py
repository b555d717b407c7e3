"""Principal minors of positive semidefinite matrices, many subsets at a time."""

import numpy as np

from dpplearn._numba import jit
from dpplearn._precision import PARALLEL, SINGULAR


def steps_of_subsets(A, gram, indptr):
    k = np.diff(indptr)
    return (k**3 / 6 + k**2 * (A.shape[1] if gram else 1)).sum()


@jit(steps=steps_of_subsets)
def subset_logdets(A, gram, indptr, indices):
    """log det of L_Y for many subsets; L = A, or L = A A^T where gram is set.

    NaN where rows of A are so nearly parallel that their products know too little: then the rows are to be asked.
    """
    out = np.empty(indptr.size - 1)
    longest = 0
    for s in range(out.size):
        longest = max(longest, indptr[s + 1] - indptr[s])
    C = np.empty((longest, longest))
    for s in range(out.size):
        Y = indices[indptr[s] : indptr[s + 1]]
        k, product, total = Y.size, 1.0, 0.0
        for a in range(k):
            for b in range(a + 1):
                if gram:
                    x = 0.0
                    for c in range(A.shape[1]):
                        x += A[Y[a], c] * A[Y[b], c]
                else:
                    x = A[Y[a], Y[b]]
                C[a, b] = x
            whole = C[a, a]
            for b in range(a):
                x = C[a, b]
                for r in range(b):
                    x -= C[a, r] * C[b, r]
                x *= C[b, b]  # the inverse of the pivot's root
                C[a, b] = x
                C[a, a] -= x * x
            if C[a, a] <= (PARALLEL if gram else k * SINGULAR) * whole:
                total = np.nan if gram and whole > 0.0 else -np.inf
                break
            product *= C[a, a]
            if product < 1e-100 or product > 1e100:  # one logarithm for many pivots
                total += np.log(product)
                product = 1.0
            C[a, a] = 1.0 / np.sqrt(C[a, a])
        out[s] = total + np.log(product)
    return out
