"""Principal minors of positive semidefinite matrices, many subsets at a time."""

import numpy as np

from dpplearn._numba import jit
from dpplearn._precision import PARALLEL, ROUNDING, SINGULAR


@jit
def dot(x, y):
    total = 0.0
    for c in range(x.size):
        total += x[c] * y[c]
    return total


@jit
def subtract(x, s, y):
    """x - s y in place; returns the squared length of what is left."""
    left = 0.0
    for c in range(x.size):
        x[c] -= s * y[c]
        left += x[c] * x[c]
    return left


@jit
def log_minor_of_rows(B, items, k):
    """log det of B_Y B_Y^T for Y = items[:k] from the rows themselves, which know twice the digits of their products.

    Modified Gram-Schmidt on rows of length 1, always the one of which most is left.
    """
    d = B.shape[1]
    W, left, total = np.empty((k, d)), np.ones(k), 0.0
    for a in range(k):
        b = B[items[a]]
        x = dot(b, b)
        if x == 0.0:
            return -np.inf
        total += np.log(x)
        for c in range(d):
            W[a, c] = b[c] / np.sqrt(x)
    for t in range(k):
        p = t
        for a in range(t + 1, k):
            if left[a] > left[p]:
                p = a
        if left[p] <= (d * ROUNDING) ** 2:
            return -np.inf
        total += np.log(left[p])
        root, left[p] = np.sqrt(left[p]), left[t]
        for c in range(d):
            W[p, c], W[t, c] = W[t, c], W[p, c] / root
        for a in range(t + 1, k):
            left[a] = subtract(W[a], dot(W[a], W[t]), W[t])
    return total


@jit
def log_minor(A, gram, items, k, C):
    """log det L_Y for Y = items[:k]; L = A, or A A^T where gram is set. C is work space (k, k) or more."""
    product, total = 1.0, 0.0
    for a in range(k):
        i = items[a]
        for b in range(a + 1):
            j = items[b]
            if gram:
                x = 0.0
                for c in range(A.shape[1]):
                    x += A[i, c] * A[j, c]
            else:
                x = A[i, j]
            C[a, b] = x
        whole = C[a, a]
        for b in range(a):
            x = C[a, b]
            for r in range(b):
                x -= C[a, r] * C[b, r]
            x *= C[b, b]  # the inverse of the pivot's root
            C[a, b] = x
            C[a, a] -= x * x
        if gram and C[a, a] < PARALLEL * whole:
            return log_minor_of_rows(A, items, k)
        if C[a, a] <= k * SINGULAR * whole:
            return -np.inf
        product *= C[a, a]
        if product < 1e-100 or product > 1e100:  # one logarithm for many pivots
            total += np.log(product)
            product = 1.0
        C[a, a] = 1.0 / np.sqrt(C[a, a])
    return total + np.log(product)


def steps_of_subsets(A, gram, indptr):
    k = np.diff(indptr)
    return (k**3 / 6 + k**2 * (A.shape[1] if gram else 1)).sum()


@jit(steps=steps_of_subsets)
def subset_logdets(A, gram, indptr, indices):
    """log det of L_Y for many subsets; L = A, or L = A A^T where gram is set."""
    out = np.empty(indptr.size - 1)
    longest = 0
    for s in range(out.size):
        longest = max(longest, indptr[s + 1] - indptr[s])
    C = np.empty((longest, longest))
    for s in range(out.size):
        out[s] = log_minor(A, gram, indices[indptr[s] : indptr[s + 1]], indptr[s + 1] - indptr[s], C)
    return out


@jit(steps=lambda u: u.size**3 / 3)
def decide(A, u, chosen, room):
    """Decide the items of a marginal kernel A, which need not be symmetric, one by one; overwrites A.

    The pivot is the probability of the item given the choices before it; one that is dropped subtracts 1. With `room`
    up to 0, some item is chosen: the first with which the log of the chance of none before it falls below `room`.
    """
    n = A.shape[0]
    for j in range(n):
        p = min(max(A[j, j], 0.0), 1.0)
        chosen[j] = u[j] < p
        if room <= 0.0:
            room -= np.log1p(-p) if p < 1.0 else -np.inf
            chosen[j] = room > 0.0
        pivot = A[j, j] if chosen[j] else A[j, j] - 1.0
        for i in range(j + 1, n):
            f = A[i, j] / pivot
            for c in range(j + 1, n):
                A[i, c] -= f * A[j, c]
