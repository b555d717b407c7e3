"""A DPP whose kernel is a function that returns single entries of L; it is sampled by a Markov chain."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpplearn._checks import FloatArray, Items, Seed, check_int, check_rng, check_subset
from dpplearn._linalg import logdet
from dpplearn.process import Frozen
from dpplearn.sampling.mcmc import MarkovChain, check_symmetric, sample_mcmc
from dpplearn.subsets import Subsets


class ImplicitDPP(Frozen):
    """A DPP given by a function (i, j) -> L_ij.

    There is no normalizer and no exact sampler; `sample` runs a Markov chain that adds, deletes and swaps items and
    whose law converges to the DPP. It starts from a greedy set. Prefer `DPP` or `LowRankDPP` if L or B^T B can be
    factorized, since they are exact and faster. The start calls the function for n |Y| entries, each move for |Y|.

    The function must be symmetric. `log_weight` checks all pairs that it reads, and `sample` those of its first set; a
    move reads only one of L_ij and L_ji.

    Parameters
    ----------
    kernel : callable
        `kernel(i, j)` returns L_ij for whole numbers i and j.
    n : int
        Number of items.

    Examples
    --------
    >>> dpp = ImplicitDPP(lambda i, j: 2.0 * 0.5 ** abs(i - j), n=10)
    >>> draws = dpp.sample(3, rng=0, k=4)
    >>> len(draws), draws.sizes
    (3, array([4, 4, 4]))
    """

    def __init__(self, kernel: Callable[[int, int], float], n: int) -> None:
        if not callable(kernel):
            raise TypeError("kernel must be a function (i, j) -> L_ij. A matrix is for DPP(L), rows for LowRankDPP(B).")
        self._set(kernel=kernel, n=check_int(n, "n", low=1))

    kernel: Callable[[int, int], float]
    n: int

    def __repr__(self) -> str:
        return f"<ImplicitDPP on {self.n} items>"

    def __len__(self) -> int:
        return self.n

    @property
    def quality(self) -> FloatArray:
        """q_i = sqrt(L_ii), equation (8): n entries of L."""
        return np.sqrt(self._chain().diagonal())

    def log_weight(self, subset: Items) -> float:
        """log det(L_Y): log P(Y) up to a constant that is not known."""
        Y = check_subset(subset, self.n)
        row = self._chain().row
        L_Y = np.array([row(int(i), Y) for i in Y]).reshape(Y.size, Y.size)
        for a in range(Y.size):
            check_symmetric(int(Y[a]), L_Y[a, :a], Y[:a], L_Y[:a, a])
        return logdet(L_Y)

    def sample(
        self,
        size: int = 1,
        rng: Seed = None,
        *,
        k: int | None = None,
        burn_in: int | None = None,
        thin: int | None = None,
    ) -> Subsets:
        """States of the chain after `burn_in` moves, `thin` moves apart.

        Parameters
        ----------
        size : int
        rng : int, numpy.random.Generator or None
        k : int, optional
            Keep exactly k items (a k-DPP); the chain then only swaps.
        burn_in, thin : int, optional
            By default 20 n and n moves (2000 and 100 at least). States are correlated; larger values bring them closer
            to independent exact draws.
        """
        size, generator = check_int(size, "size"), check_rng(rng)
        k = None if k is None else check_int(k, "k", high=self.n)
        burn_in = None if burn_in is None else check_int(burn_in, "burn_in", high=10**10)
        thin = None if thin is None else check_int(thin, "thin", low=1)
        return Subsets._of(*sample_mcmc(self._chain(), size, generator, k, burn_in, thin), self.n)

    def _chain(self) -> MarkovChain:
        return MarkovChain(self.kernel, self.n)
