"""Cosines of sparse unit rows."""

import numpy as np

from dpplearn._numba import jit


@jit(steps=lambda indptr, n: 2 * n * n + (np.diff(indptr) ** 2).sum())
def gram(indptr, rows, values, n):
    """X X^T for an n-row sparse X given by columns: entry p of column c is values[p] in row rows[p]."""
    G = np.zeros((n, n))
    for c in range(indptr.size - 1):  # a word in d sentences touches d^2 / 2 pairs: rare words cost nothing
        for p in range(indptr[c], indptr[c + 1]):
            i, x = rows[p], values[p]
            for s in range(indptr[c], p + 1):
                G[i, rows[s]] += x * values[s]  # rows ascend within a column: the lower triangle
    for i in range(n):
        for j in range(i):
            G[j, i] = G[i, j]
    return G
