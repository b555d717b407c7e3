"""The k-DPP: a DPP conditioned on the number of items, so that every subset has exactly k."""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple, Self

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, check_int, frozen
from dpplearn._linalg import Factor, Spectrum, safe_log, spectrum_wide
from dpplearn._precision import LOST_EIGENVALUE, MISSING_TRACE, singular
from dpplearn.determinantal import Determinantal, Spectral, sum_of_coins
from dpplearn.process import impossible, remaining
from dpplearn.sampling import Tables
from dpplearn.sampling.spectral import settled, sized_tables
from dpplearn.subsets import Subsets


class SizedSpectrum(NamedTuple):
    """Eigenvalues and eigenvectors of a multiple of L (all multiples have the same k-DPP), and log e_k of L itself."""

    lam: FloatArray
    V: FloatArray
    log_e: float


class KDPP(Spectral):
    """A DPP conditioned on |Y| = k: P(Y) = det(L_Y) / e_k(lam).

    e_k is the elementary symmetric polynomial of L's eigenvalues: the sum of det(L_Y) over all sets of k items.
    Multiplying L by a constant changes nothing.

    Parameters
    ----------
    dpp : DPP or LowRankDPP
    k : int
        From 0 to the rank of L.

    Examples
    --------
    >>> from dpplearn import DPP
    >>> pair = KDPP(DPP([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]]), k=2)
    >>> pair.marginals.round(3)  # the two similar items are hardly ever chosen together
    array([0.543, 0.543, 0.913])
    >>> round(pair.prob(include=[0], exclude=[1]), 3), pair.condition(include=[0]).marginals.round(3)
    (0.457, array([0.16, 0.84]))
    """

    _methods = ("spectral",)

    def __init__(self, dpp: Determinantal, k: int) -> None:
        given: object = dpp
        if not isinstance(given, Determinantal):
            raise TypeError(f"dpp must be a DPP or a LowRankDPP, found {type(dpp).__name__}.")
        k = check_int(k, "k", high=None)
        if k > dpp.n:
            raise ValueError(f"k must be at most the number of items ({dpp.n}), found {k}.")
        self._set(dpp=dpp, k=k, items=dpp.items)
        _ = self._spectrum  # raises if k is above the rank

    dpp: Determinantal
    k: int

    def __repr__(self) -> str:
        return f"<KDPP of {self.k} out of {self.n} items>"

    @cached_property
    def _spectrum(self) -> SizedSpectrum:
        """The spectrum of L, unless its k-th eigenvalue is lost in the rounding of the largest.

        Then we take the multiple cL of which about k items are chosen, and its probabilities p, since p / (1 - p) has
        all the digits of an eigenvalue that matter. e_k(L) = P(|Y| = k) det(I + cL) / c^k.
        """
        if self.dpp._near_one:
            raise ValueError(
                "K has an eigenvalue so near 1 that too few digits are left of the difference, on which probabilities "
                "of sets of a given size depend. Pass the likelihood kernel, DPP(L), if you have it, or 0.999999 * K."
            )
        lam, V = self.dpp.eigenpairs
        if self.k == 0 or (
            self.k <= lam.size and lam[-self.k] > max(LOST_EIGENVALUE * lam[-1], 0.0) and self._is_whole(lam)
        ):
            return SizedSpectrum(lam, V, float(log_esp(lam, self.k)[self.k, -1]))
        factor = self.dpp._operand.factor()
        rank = factor.pivots.size
        if self.k > rank:
            raise BeyondRankError(
                f"k must be at most the rank of L ({rank} to working precision), found {self.k}: every set of {self.k} "
                "items has determinant 0. Add a little to the diagonal (L + 1e-6 I) if items should count as different."
            )
        (p, V, log_normalizer), log_c = scaled_spectrum(factor, self.k)
        lam = p / np.maximum(1 - p, 1e-17)
        log_e = float(np.log(sum_of_coins(p)[self.k])) + log_normalizer - self.k * log_c
        return SizedSpectrum(lam, V, log_e)

    def _is_whole(self, lam: FloatArray) -> bool:
        """Whether the eigenvalues that were set to 0 as rounding are negligible beside the k-th one.

        Their sum is the trace less the sum of the others.
        """
        enough = MISSING_TRACE * float(lam[-self.k])
        if self.n * singular(self.n) * float(lam[-1]) <= enough or (lam[0] > 0.0 and lam.size == self.n):
            return True
        return math.fsum(np.append(self.dpp._operand.diag, -lam).tolist()) <= enough  # exact, since both sums are large

    @property
    def log_normalizer(self) -> float:
        """log e_k(lam) = log of the sum of det(L_Y) over all sets of k items."""
        return self._spectrum.log_e

    def _log_prob(self, Y: IntArray) -> float:
        return self.dpp._operand.logdet(Y) - self._spectrum.log_e if Y.size == self.k else -np.inf

    def _log_probs(self, subsets: Subsets) -> FloatArray:
        values = self.dpp._operand.logdets(subsets.indptr, subsets.indices) - self._spectrum.log_e
        return np.where(subsets.sizes == self.k, values, -np.inf)

    def _all_probs(self) -> FloatArray:
        every = np.array(list(combinations(range(self.n), self.k)), np.int64)
        return np.exp(self._log_probs(Subsets._of(self.k * np.arange(len(every) + 1), every.ravel(), self.n)))

    def _prob(self, A: IntArray, B: IntArray) -> float:
        """det(L_A) e_{k - |A|}(L') / e_k(L), where L' is the kernel of the remaining items given A."""
        rest, more = remaining(self.n, A, B), self.k - A.size
        if not 0 <= more <= rest.size:
            return 0.0
        if more in (0, rest.size):  # only one set is possible
            return float(np.exp(self._log_prob(A if more == 0 else np.union1d(A, rest))))
        log_det = self.dpp._operand.logdet(A)
        if log_det == -np.inf:
            return 0.0
        try:
            log_e = KDPP(self.dpp.condition(A, B), more)._spectrum.log_e
        except BeyondRankError:
            return 0.0
        return float(np.exp(log_det + log_e - self._spectrum.log_e))

    def _condition(self, A: IntArray, B: IntArray, rest: IntArray) -> Self:  # noqa: ARG002  # as for other kernels
        if self.prob(A, B) == 0.0:
            raise impossible(include=A, exclude=B)
        return type(self)(self.dpp.condition(A, B), self.k - A.size)

    @cached_property
    def marginals(self) -> FloatArray:
        """P(i in Y) = sum over eigenvectors of v_j(i)^2 lam_j e_{k-1}(the other lam) / e_k(lam)."""
        lam, V, _ = self._spectrum
        return frozen(np.clip(np.einsum("ij,ij,j->i", V, V, vector_probs(lam, self.k)), 0.0, 1.0))

    def _covariances(self, A: IntArray) -> FloatArray:
        """P(i, j in Y) is the sum over pairs of eigenvectors of P(a, b in J) (v_a(i) v_b(j) - v_a(j) v_b(i))^2.

        Each pair of items takes as many steps as the square of the rank.
        """
        lam, V, _ = self._spectrum
        V, both = V[A][:, lam > 0.0], self._vector_pairs
        pairs = V**2 @ both @ (V**2).T
        for i in range(A.size):
            cross = V[i] * V
            pairs[i] -= np.einsum("ij,ij->i", cross @ both, cross)
        return (pairs + pairs.T) / 2 - np.outer(self.marginals[A], self.marginals[A])

    @cached_property
    def _vector_pairs(self) -> FloatArray:
        """P(a, b in J) for every two eigenvectors whose eigenvalues are above 0, with 0 on the diagonal."""
        lam = self._spectrum.lam
        lam = lam[lam > 0.0]
        both, p = np.zeros((lam.size, lam.size)), vector_probs(lam, self.k)
        for a in range(lam.size if self.k > 1 else 0):
            others = np.arange(lam.size) != a
            both[a, others] = p[a] * vector_probs(lam[others], self.k - 1)
        return both

    @cached_property
    def size_pmf(self) -> FloatArray:
        """P(|Y| = j) for j = 0 ... n: 1 for j = k."""
        return frozen((np.arange(self.n + 1) == self.k).astype(np.float64))

    @cached_property
    def _plain_tables(self) -> Tables:
        lam, V, _ = self._spectrum
        about = lam / (lam + (lam[-max(self.k, 1)] or 1.0))  # roughly how often a column is taken
        return sized_tables(log_esp(lam[::-1], self.k), settled(about, V))


def scaled_spectrum(factor: Factor, k: int) -> tuple[Spectrum, float]:
    """The spectrum of c L, and log c, with c such that about k eigenvalues exceed 1, judging by the pivots."""
    sizes = 2 * np.log(factor.rows[factor.pivots].diagonal())
    log_c = float(-(sizes[k - 1] + sizes[min(k, sizes.size - 1)]) / 2)
    return spectrum_wide(Factor(factor.rows * np.exp(log_c / 2), factor.pivots)), log_c


class BeyondRankError(ValueError):
    """No set of k items is possible."""


def log_esp(lam: FloatArray, k: int) -> FloatArray:
    """Table T[j, i] = log e_j(lam_1, ..., lam_i) for j = 0 ... k, where e_j sums all products of j numbers.

    Logarithms prevent over- and underflow, and no digits cancel because only positive terms are added.

    Examples
    --------
    >>> np.exp(log_esp(np.array([1.0, 2.0, 3.0]), 2))[:, -1].round(9)  # 1, 1 + 2 + 3, 2 + 3 + 6
    array([ 1.,  6., 11.])
    """
    log_lam = safe_log(lam)
    T = np.full((lam.size + 1, k + 1), -np.inf)
    T[:, 0] = 0.0
    for i, x in enumerate(log_lam):
        np.logaddexp(T[i, 1:], T[i, :-1] + x, out=T[i + 1, 1:])  # products without lam_i, and products with it
    return T.T


def vector_probs(lam: FloatArray, k: int) -> FloatArray:
    """P(j in J) = lam_j e_{k-1}(the others) / e_k: how often phase 1 of a k-DPP takes each eigenvector."""
    if k == 0:
        return np.zeros(lam.size)
    before, after = log_esp(lam, k), log_esp(lam[::-1], k - 1)
    # e_{k-1} of all but the j-th number, from those before it and those after it
    others = np.logaddexp.reduce(before[:k, :-1] + after[::-1, -2::-1], axis=0)
    return np.minimum(np.exp(safe_log(lam) + others - before[k, -1]), 1.0)
