"""Algorithm 1 of the paper, as written there: what the faster likelihood is compared with."""

from __future__ import annotations

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._linalg import logdet
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.likelihood import Terms


def algorithm1(
    theta: FloatArray, item_set: ItemSet, Y: IntArray, *, rho: float = 0.0, nugget: float = 0.0, order: int = 1
) -> Terms:
    """Value and gradient from an eigendecomposition of L, and with order 2 the Hessian from the same K."""
    F = item_set.features
    q = np.exp(F @ theta / 2)
    S = item_set.similarity_matrix(rho, nugget)
    lam, V = np.linalg.eigh(q[:, None] * S * q)
    lam = np.maximum(lam, 0.0)
    p = lam / (1 + lam)
    k = (V**2) @ p  # step 4: K_ii = sum over eigenpairs of lam / (1 + lam) v_i^2
    value = F[Y].sum(axis=0) @ theta + logdet(S[np.ix_(Y, Y)]) - np.log1p(lam).sum()
    gradient = F[Y].sum(axis=0) - k @ F
    hessian = None
    if order == 2:
        K = (V * p) @ V.T
        hessian = -F.T @ (np.diag(k) - K**2) @ F
    return Terms(float(value), gradient, hessian)
