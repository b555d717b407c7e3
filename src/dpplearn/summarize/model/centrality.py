"""How central a sentence is to its cluster: mean similarity, and LexRank, from unit rows phi whose cosines C are.

C v = phi (phi^T v): what many sentences need of C takes time and memory as their words do.
"""

from __future__ import annotations

import numpy as np

from dpplearn._checks import Features, FloatArray

DAMPING = 0.85
MOST_STEPS = 200  # of conjugate gradients, at most: many more than they take


def mean_similarity(phi: Features) -> FloatArray:
    """Mean cosine of each sentence to all others in the cluster; 0 for a single one.

    Examples
    --------
    >>> mean_similarity(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])).round(2)
    array([0.3, 0.7, 0.4])
    """
    n = phi.shape[0]
    return np.asarray((phi @ phi.sum(axis=0) - 1.0) / max(n - 1, 1))


def lexrank(phi: Features, damping: float = DAMPING) -> FloatArray:
    """Continuous LexRank (Erkan and Radev, 2004), scaled to mean 1.

    The stationary distribution of a walk over sentences that goes to a similar one with probability `damping` (rows of
    C, normalized), and anywhere otherwise. Without the jumps it would be the row sums of C, because C is
    symmetric, and would say nothing that the mean similarity does not.

    With D the row sums of C and x = D^1/2 y, the walk's equation is (I - d D^-1/2 C D^-1/2) y = (1 - d) D^-1/2 1,
    whose eigenvalues lie between 1 - d and 1: conjugate gradients end after about 25 products with C.

    Examples
    --------
    >>> lexrank(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])).round(3)
    array([0.866, 1.204, 0.93 ])
    """
    by_word = phi.T
    root = np.sqrt(phi @ phi.sum(axis=0))
    b = (1.0 - damping) / root
    y, r, p = np.zeros_like(b), b.copy(), b.copy()
    square = start = float(r @ r)
    for _ in range(MOST_STEPS):
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
