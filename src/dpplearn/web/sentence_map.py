"""A map of the sentences: classical scaling of their cosines to two dimensions."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray


def similarity_map(C: FloatArray) -> FloatArray:
    """Points in [-1, 1]^2 whose distances are near those of the sentences (Torgerson's scaling).

    With |v_i - v_j|^2 = 2 - 2 C_ij the doubly centred matrix is J C J, J = I - 1 1^T / n; the two leading
    eigenvectors, each times the root of its eigenvalue, are the coordinates. Their signs are fixed: the entry of
    largest size is positive.

    Examples
    --------
    >>> similarity_map(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])).round(3) + 0.0
    array([[-0.5,  0. ],
           [-0.5,  0. ],
           [ 1. ,  0. ]])
    """
    n = len(C)
    points = np.zeros((n, 2))
    if n < 2:
        return points
    mean = C.mean(axis=1)
    B = C - mean[:, None] - mean + mean.mean()
    lam, V = linalg.eigh(B, subset_by_index=[n - 2, n - 1], check_finite=False)
    if lam.size < 2:  # LAPACK finds none where all are equal: no two sentences have a word in common
        lam, V = (part[..., -2:] for part in linalg.eigh(B, check_finite=False))
    for axis, j in enumerate((1, 0)):
        if lam[j] > 1e-10 * n:
            v = np.round(V[:, j] * np.sqrt(lam[j]), 9)  # ties in size stay ties: the first of them is the positive one
            points[:, axis] = v * np.sign(v[np.abs(v).argmax()])
    largest = np.abs(points).max()
    return points / largest if largest > 0 else points
