"""Training sets, and the likelihood from its definition."""

from __future__ import annotations

import mpmath
import numpy as np

from brute import pmf, subsets
from dpplearn.learning import ConditionalDPP, ItemSet
from dpplearn.learning.likelihood import LogLinear
from dpplearn.learning.similarity import fixed_similarity

THETA = np.array([-1.0, 0.8, -0.5])


def random_items(n, m, rng, d=None, similarity=False, spread=1.0, **kwargs):
    """An instance with random features; a constant first."""
    F = spread * rng.standard_normal((n, m))
    F[:, 0] = 1.0
    phi = rng.standard_normal((n, n + 2 if d is None else d))
    if similarity:
        unit = phi / np.linalg.norm(phi, axis=1)[:, None]
        S = unit @ unit.T
        np.fill_diagonal(S, 1.0)
        return ItemSet(F, S=S, **kwargs)
    return ItemSet(F, phi=phi, **kwargs)


def training_set(T, n, theta, rng, d=None, rho=0.0, nugget=0.0, **kwargs):
    """T instances of n items, with subsets drawn from the model with weights theta."""
    X = [random_items(n, len(theta), rng, d, **kwargs) for _ in range(T)]
    model = with_weights(theta, rho, nugget)
    return X, [model.dpp(x).sample(1, rng=rng, n_jobs=1)[0] for x in X]


def with_weights(theta, rho=0.0, nugget=0.0):
    """A model with given weights."""
    model = ConditionalDPP()
    model.quality_, model.similarity_ = LogLinear(np.asarray(theta, float)), fixed_similarity(rho, nugget)
    model.theta_std_ = np.ones(len(theta))
    model.feature_names_in_ = np.array([f"x{j}" for j in range(len(theta))], dtype=object)
    return model


def mixed(C, rho=0.0, nugget=0.0):
    """S from its definition."""
    S = nugget * np.eye(len(C)) + (1 - nugget) * (C + rho**2) / (1 + rho**2)
    np.fill_diagonal(S, 1.0)
    return S


def log_pmf_table(theta, items, rho=0.0, nugget=0.0):
    """log P(Y) of every subset, equation (18) with its sum written out."""
    q = np.exp(items.features @ theta / 2)
    S = mixed(items.similarity_matrix(), rho, nugget)
    return {Y: np.log(p) for Y, p in pmf(q[:, None] * S * q).items() if p > 0}


def exact_terms(theta, F, S, Y):
    """Value and gradient of equation (18) with 800 digits, from the sum over all subsets."""
    n, m = F.shape
    with mpmath.workdps(800):
        eta = [sum(mpmath.mpf(float(F[i, j])) * mpmath.mpf(float(theta[j])) for j in range(m)) for i in range(n)]
        S = [[mpmath.mpf(x) for x in row] for row in S]
        weights = {}
        for A in subsets(n):
            block = mpmath.matrix([[S[i][j] for j in A] for i in A]) if A else None
            det = mpmath.det(block) if A else mpmath.mpf(1)
            weights[A] = mpmath.exp(sum((eta[i] for i in A), mpmath.mpf(0))) * det
        total = mpmath.fsum(weights.values())
        k = [float(mpmath.fsum(w for A, w in weights.items() if i in A) / total) for i in range(n)]
        return float(mpmath.log(weights[tuple(Y)] / total)), F[list(Y)].sum(axis=0) - np.array(k) @ F
