"""Principal minors of a matrix that need not be symmetric, many subsets at a time."""

import numpy as np

from dpplearn._loops.elimination import dot
from dpplearn._loops.jit import jit
from dpplearn._precision import ROUNDING


@jit
def log_minor(A, E, k):
    """log det of A[:k, :k], -inf where it is 0 or below; overwrites A, and E with what its entries may have lost.

    Elimination with rows exchanged. E holds the sizes of the terms that each entry is the sum of: a pivot that is only
    rounding beside them is 0, whatever the scales of rows and columns.
    """
    total, positive = 0.0, True
    for t in range(k):
        p, best = t, -1.0
        for i in range(t, k):  # the row of which most is left beside what there was
            x = abs(A[i, t]) / E[i, t] if E[i, t] > 0.0 else 0.0
            if x > best:
                p, best = i, x
        if best <= k * ROUNDING:
            return -np.inf
        if p != t:
            positive = not positive
            for j in range(t, k):
                A[p, j], A[t, j] = A[t, j], A[p, j]
                E[p, j], E[t, j] = E[t, j], E[p, j]
        if A[t, t] < 0.0:
            positive = not positive
        total += np.log(abs(A[t, t]))
        for i in range(t + 1, k):
            f = A[i, t] / A[t, t]
            for j in range(t + 1, k):
                A[i, j] -= f * A[t, j]
                E[i, j] += abs(f) * E[t, j]
    return total if positive else -np.inf


@jit
def subset_log_minors(left, right, noise, indptr, indices):
    """log det L_Y of each subset, with L_ij = left_i . right_j; for `noise` see `TwoSided`."""
    out = np.empty(indptr.size - 1)
    longest = 0
    for s in range(out.size):
        longest = max(longest, indptr[s + 1] - indptr[s])
    A, E = np.empty((longest, longest)), np.empty((longest, longest))
    for s in range(out.size):
        Y = indices[indptr[s] : indptr[s + 1]]
        if Y.size > left.shape[1]:
            out[s] = -np.inf
            continue
        for a in range(Y.size):
            for b in range(Y.size):
                A[a, b] = dot(left[Y[a]], right[Y[b]])
                E[a, b] = max(noise[0, Y[a]] * noise[1, Y[b]], abs(A[a, b]))
        out[s] = log_minor(A, E, Y.size)
    return out
