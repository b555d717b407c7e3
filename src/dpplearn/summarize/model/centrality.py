"""How central a sentence is to its cluster: mean similarity, and LexRank; from cosines, or from rows of which they are.

For unit rows phi, C v = phi (phi^T v): what many sentences need of C takes time and memory as their words do.
"""

from __future__ import annotations

import numpy as np

from dpplearn._checks import Features, FloatArray

DAMPING = 0.85
STEPS = 200  # of conjugate gradients, at most: many more than they take


def mean_similarity(C: FloatArray) -> FloatArray:
    """Mean cosine of each sentence to all others in the cluster; 0 for a single one.

    Examples
    --------
    >>> mean_similarity(np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.0], [0.1, 0.0, 1.0]])).round(2)
    array([0.3 , 0.25, 0.05])
    """
    n = len(C)
    return (C.sum(axis=1) - C.diagonal()) / max(n - 1, 1)


def lexrank(C: FloatArray, damping: float = DAMPING) -> FloatArray:
    """Continuous LexRank (Erkan and Radev, 2004), scaled to mean 1.

    The stationary distribution of a walk over sentences that goes to a similar one with probability `damping` (rows of
    C, normalized), and anywhere otherwise. Without the jumps it would be the row sums of C, because C is
    symmetric, and would say nothing that the mean similarity does not.

    Examples
    --------
    >>> lexrank(np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.0], [0.1, 0.0, 1.0]])).round(3)
    array([1.08 , 1.008, 0.912])
    """
    n = len(C)
    A = C / C.sum(axis=1)  # the walk, transposed: C is symmetric
    A *= -damping
    A.flat[:: n + 1] += 1.0
    return np.linalg.solve(A, np.full(n, 1.0 - damping))


def mean_similarity_of_rows(phi: Features) -> FloatArray:
    """`mean_similarity` of C = phi phi^T, for unit rows.

    Examples
    --------
    >>> mean_similarity_of_rows(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])).round(2)
    array([0.3, 0.7, 0.4])
    """
    n = phi.shape[0]
    return np.asarray((phi @ phi.sum(axis=0) - 1.0) / max(n - 1, 1))


def lexrank_of_rows(phi: Features, damping: float = DAMPING) -> FloatArray:
    """`lexrank` of C = phi phi^T, for unit rows with cosines that are not negative.

    With D the row sums of C and x = D^1/2 y, the walk's equation is (I - d D^-1/2 C D^-1/2) y = (1 - d) D^-1/2 1,
    whose eigenvalues lie between 1 - d and 1: conjugate gradients end after about 25 products with C.

    Examples
    --------
    >>> phi = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> bool(np.allclose(lexrank_of_rows(phi), lexrank(phi @ phi.T)))
    True
    """
    by_word = phi.T
    root = np.sqrt(phi @ phi.sum(axis=0))
    b = (1.0 - damping) / root
    y, r, p = np.zeros_like(b), b.copy(), b.copy()
    square = start = float(r @ r)
    for _ in range(STEPS):
        if square <= 1e-28 * start:
            break
        Ap = p - damping * (phi @ (by_word @ (p / root))) / root
        step = square / float(p @ Ap)
        y += step * p
        r -= step * Ap
        before, square = square, float(r @ r)
        p *= square / before
        p += r
    return np.asarray(root * y)
