"""Baskets drawn from a kernel that is known, for the tests of kernels."""

import numpy as np

from dpplearn import NonsymmetricDPP, Subsets

NAMES = ["bib", "bottle", "cot", "nappy", "pram", "towel"]


def made_up(n=6, size=3000, seed=0):
    """Baskets drawn from a kernel that attracts within pairs (0, 1), (2, 3) and repels between 4 and 5."""
    L = np.diag(np.full(n, 0.35))
    L[0, 1], L[1, 0], L[2, 3], L[3, 2] = 0.7, -0.7, 0.5, -0.5
    L[4, 5] = L[5, 4] = 0.3
    return NonsymmetricDPP.from_kernel(L), NonsymmetricDPP.from_kernel(L).sample(size, rng=seed)


def at_most_five(draws):
    return Subsets.from_lists([Y for Y in draws if Y.size <= 5], 6)


def called(draws):
    return [[NAMES[i] for i in Y] for Y in draws]
