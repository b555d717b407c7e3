"""Similarity matrices from features or points, and the positive semidefinite matrix nearest to a given one."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse

from dpplearn._checks import FloatArray, check_array, check_directions, check_rho
from dpplearn._linalg import to_dense

__all__ = ["cosine_similarity", "nearest_psd", "rbf_similarity"]


def cosine_similarity(features: ArrayLike | sparse.sparray | sparse.spmatrix, rho: float = 0.0) -> FloatArray:
    """S_ij = (cos(x_i, x_j) + rho^2) / (1 + rho^2).

    It is the cosine of unit feature vectors to which a constant feature with the value `rho` is appended, as in section
    7.2 of the paper: this makes all items more similar, and so increases repulsion.

    Examples
    --------
    >>> cosine_similarity([[2.0, 0.0], [0.0, 3.0]], rho=0.5)
    array([[1. , 0.2],
           [0.2, 1. ]])
    """
    rho = check_rho(rho)
    U = check_directions(features, "features")
    S = (np.clip(to_dense(U @ U.T), -1.0, 1.0) + rho**2) / (1 + rho**2)
    np.fill_diagonal(S, 1.0)
    return (S + S.T) / 2


def rbf_similarity(points: ArrayLike, length_scale: float) -> FloatArray:
    """S_ij = exp(-|x_i - x_j|^2 / (2 length_scale^2)).

    Examples
    --------
    >>> rbf_similarity([[0.0], [1.0]], length_scale=1.0).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """
    X = check_array(points, "points", 2)
    if not (np.isfinite(length_scale) and length_scale > 0):
        raise ValueError(f"length_scale must be a positive number, found {length_scale}.")
    from scipy.spatial.distance import cdist  # imported here because it takes longer than importing dpplearn

    top = float(np.abs(X).max(initial=0.0)) or 1.0
    unit = 2.0 ** (math.frexp(top)[1] - 1)  # a power of 2 changes no digit, and then no square overflows
    return np.exp(-cdist(X / unit, X / unit, "sqeuclidean") * (min(unit / float(length_scale), 1e150) ** 2 / 2))


def nearest_psd(A: ArrayLike) -> FloatArray:
    """The positive semidefinite matrix closest to A in Frobenius norm: (A + A^T) / 2 without negative eigenvalues.

    Examples
    --------
    >>> nearest_psd([[1.0, 2.0], [2.0, 1.0]])
    array([[1.5, 1.5],
           [1.5, 1.5]])
    """
    M = check_array(A, "A", 2)
    if M.shape[0] != M.shape[1] or len(M) == 0:
        raise ValueError(f"A must be square and not empty, found shape {M.shape}.")
    lam, V = linalg.eigh(M / 2 + M.T / 2, driver="evd", check_finite=False)
    B = V[:, lam > 0] * np.sqrt(lam[lam > 0])
    return np.asarray(B @ B.T)
