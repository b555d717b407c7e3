"""The slow truth: every subset listed, every probability from the definition."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations

import numpy as np
from scipy.stats import chisquare


def subsets(n, k=None):
    """All subsets of 0 ... n-1 as tuples (all of size k, if given)."""
    sizes = range(n + 1) if k is None else [k]
    return list(chain.from_iterable(combinations(range(n), s) for s in sizes))


def pmf(L, k=None):
    """P(Y) of every subset: det(L_Y) over the sum of all of them, not over det(L + I)."""
    weights = {Y: max(np.linalg.det(L[np.ix_(Y, Y)]), 0.0) if Y else 1.0 for Y in subsets(len(L), k)}
    total = sum(weights.values())
    return {Y: w / total for Y, w in weights.items()}


def pmf_of_marginal(K):
    """P(Y) of every subset by inclusion and exclusion over det(K_A)."""
    n = len(K)
    inclusion = {A: np.linalg.det(K[np.ix_(A, A)]) if A else 1.0 for A in subsets(n)}
    out = {}
    for Y in subsets(n):
        rest = [i for i in range(n) if i not in Y]
        out[Y] = sum(
            (-1) ** len(R) * inclusion[tuple(sorted((*Y, *R)))]
            for s in range(len(rest) + 1)
            for R in combinations(rest, s)
        )
    return out


def event(probabilities, include=(), exclude=()):
    """P(include in Y, exclude not in Y)."""
    return sum(p for Y, p in probabilities.items() if set(include) <= set(Y) and not set(exclude) & set(Y))


def random_kernel(n, rng, rank=None, scale=1.0):
    """A random positive semidefinite kernel with items of differing quality."""
    B = rng.standard_normal((n, n if rank is None else rank)) * np.exp(0.4 * rng.standard_normal((n, 1)))
    return scale * (B @ B.T) / B.shape[1]


def random_factors(n, r, s, seed, scale=1.0):
    """Factors V, B and D of a kernel that is not symmetric, and L = V V^T + B (D - D^T) B^T."""
    rng = np.random.default_rng(seed)
    V, B, D = rng.standard_normal((n, r)), rng.standard_normal((n, s)), rng.standard_normal((s, s))
    return scale * V, scale * B, D, scale**2 * (V @ V.T + B @ (D - D.T) @ B.T)


def random_marginal(n, rng, ones=0, zeros=0):
    """A random marginal kernel with some eigenvalues exactly 0 and 1."""
    V = np.linalg.qr(rng.standard_normal((n, n)))[0]
    p = rng.uniform(0.1, 0.9, n)
    p[:ones], p[n - zeros :] = 1.0, 0.0
    return (V * p) @ V.T


def check_counts(draws, truth):
    """Chi-square of the counts against the truth; rare subsets are pooled, impossible ones never drawn."""
    size, counts = len(draws), Counter(tuple(Y.tolist()) for Y in draws)
    assert all(truth[Y] > 1e-12 for Y in counts)
    common = [Y for Y, p in truth.items() if size * p >= 5]
    observed, expected = [counts[Y] for Y in common], [size * float(truth[Y]) for Y in common]
    rare = size - sum(expected)
    if rare > 1e-6 * size:
        observed, expected = [*observed, size - sum(observed)], [*expected, rare]
    expected = np.array(expected) * size / sum(expected)
    assert sum(observed) == size
    assert len(observed) == 1 or chisquare(observed, expected).pvalue > 1e-3
