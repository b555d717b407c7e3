"""The pairwise MRF of equation (11), one subset at a time."""

from math import exp

import numpy as np

from brute import subsets
from dpplearn.mrf import PairwiseMRF


def random_mrf(n, rng, strength=1.0, repulsive=True):
    upper = np.triu(-strength * (rng.exponential(size=(n, n)) if repulsive else rng.standard_normal((n, n))), 1)
    return PairwiseMRF(rng.standard_normal(n), upper + upper.T, repulsive=repulsive)


def brute_pmf(w, W):
    """Equation (11), one subset at a time."""
    weights = {Y: exp(sum(w[i] for i in Y) + sum(W[i][j] for i in Y for j in Y if i < j)) for Y in subsets(len(w))}
    total = sum(weights.values())
    return {Y: value / total for Y, value in weights.items()}


def position(Y):
    return sum(1 << i for i in Y)


def symmetric(pairs):
    """The 3 x 3 matrix of the values of the pairs 12, 13 and 23, with zeros on its diagonal."""
    upper = np.zeros((3, 3))
    upper[[0, 0, 1], [1, 2, 2]] = pairs
    return upper + upper.T
