"""Symmetric matrices as the rows of their upper triangle: half the memory, and sums by one product."""

import numpy as np

from dpplearn._numba import jit


@jit(steps=lambda n: 2 * n * n)
def unpack(packed, constant, n):
    """The n x n matrix with `constant` added to every entry, and ones on its diagonal."""
    S = np.empty((n, n))
    at = 0
    for i in range(n):
        S[i, i] = 1.0
        for j in range(i + 1, n):
            S[i, j] = packed[at + j - i] + constant
            S[j, i] = S[i, j]
        at += n - i
    return S


@jit(steps=lambda X: X.size)
def pack(X, r):
    """diag(r) X diag(r) from the upper triangle of X, off the diagonal twice: its product with C packed is <., C>."""
    n = len(X)
    packed = np.empty(n * (n + 1) // 2)
    at = 0
    for i in range(n):
        packed[at] = X[i, i] * r[i] * r[i]
        for j in range(i + 1, n):
            packed[at + j - i] = 2.0 * X[i, j] * r[i] * r[j]
        at += n - i
    return packed


@jit(steps=lambda X: X.size)
def mirrored(X, r):
    """diag(r) X diag(r) from the upper triangle of X, whole."""
    n = len(X)
    G = np.empty((n, n))
    for i in range(n):
        for j in range(i, n):
            G[i, j] = X[i, j] * r[i] * r[j]
            G[j, i] = G[i, j]
    return G
