"""Sums over baskets of log det L_Y, and of its derivative, which is the inverse of L_Y in its place in L."""

import numpy as np

from dpplearn._numba import jit
from dpplearn._precision import SINGULAR


@jit
def invert(A, k):
    """Inverse of A[:k, :k] into A[:k, k : 2 k], by Gauss-Jordan with pivots; returns log det.

    It is -inf if the determinant is not positive, or is 0 but for rounding: if a pivot is no larger than what rounding
    leaves, relative to the diagonal of its row and of its column, which two more columns hold.
    """
    log_det, positive, row, column = 0.0, True, 2 * k, 2 * k + 1
    for c in range(k):
        for j in range(k):
            A[c, k + j] = 1.0 if j == c else 0.0
        A[c, row] = A[c, column] = np.sqrt(max(A[c, c], 0.0))
    for c in range(k):
        p = c
        for i in range(c + 1, k):
            if abs(A[i, c]) > abs(A[p, c]):
                p = i
        pivot = A[p, c]
        if not abs(pivot) > k * SINGULAR * A[p, row] * A[c, column] or not np.isfinite(pivot):
            return -np.inf
        if p != c:
            positive = not positive
            for j in range(c, 2 * k + 1):
                A[c, j], A[p, j] = A[p, j], A[c, j]
        if pivot < 0.0:
            positive = not positive
        log_det += np.log(abs(pivot))
        for j in range(c, 2 * k):
            A[c, j] /= pivot
        for i in range(k):
            f = A[i, c]
            if i != c and f != 0.0:
                for j in range(c, 2 * k):
                    A[i, j] -= f * A[c, j]
    return log_det if positive else -np.inf


@jit(steps=lambda left, indptr: ((2 * np.diff(indptr) + 3 * left.shape[1]) * np.diff(indptr) ** 2).sum())
def sum_over_baskets(L, left, right, indptr, indices, weights, G, G_left, G_right):
    """Sum of w log det L_Y; adds its derivative in L, w L_Y^-T, to G.

    If L is empty, it is left right^T, which is never formed; then G right and G^T left are added to the others.
    """
    total, d, formed, largest = 0.0, left.shape[1], L.size > 0, np.diff(indptr).max()
    A = np.empty((largest, 2 * largest + 2))  # a basket's block, its inverse, and the scales of its rows and columns
    for t in range(weights.size):
        a, k, w = indptr[t], indptr[t + 1] - indptr[t], weights[t]
        for i in range(k):
            p = indices[a + i]
            for j in range(k):
                s, entry = indices[a + j], 0.0
                if formed:
                    entry = L[p, s]
                for c in range(d):
                    entry += left[p, c] * right[s, c]
                A[i, j] = entry
        total += w * invert(A, k)
        if total == -np.inf:
            return total
        for i in range(k):
            p = indices[a + i]
            for j in range(k):
                g, s = w * A[j, k + i], indices[a + j]
                if formed:
                    G[p, s] += g
                for c in range(d):
                    G_left[p, c] += g * right[s, c]
                    G_right[s, c] += g * left[p, c]
    return total
