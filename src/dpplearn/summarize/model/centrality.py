"""How central a sentence is to its cluster: mean similarity, and LexRank."""

from __future__ import annotations

import numpy as np

from dpplearn._checks import FloatArray


def mean_similarity(C: FloatArray) -> FloatArray:
    """Mean cosine of each sentence to all others in the cluster; 0 for a single one.

    Examples
    --------
    >>> mean_similarity(np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.0], [0.1, 0.0, 1.0]])).round(2)
    array([0.3 , 0.25, 0.05])
    """
    n = len(C)
    return (C.sum(axis=1) - C.diagonal()) / max(n - 1, 1)


def lexrank(C: FloatArray, damping: float = 0.85) -> FloatArray:
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
