"""The base classes of DPPs with a symmetric kernel: they answer questions from the spectrum of the marginal kernel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, Items, check_items, frozen
from dpplearn._linalg import Spectrum, logdet, schur_complement, spectrum_wide
from dpplearn._precision import NEARLY_SURE, WIDE
from dpplearn.operand import Operand
from dpplearn.process import Distribution, PointProcess, remaining
from dpplearn.sampling import Tables
from dpplearn.sampling.elimination import eliminate, sample_elimination
from dpplearn.sampling.spectral import make_tables, sample_spectral, settled, with_alias
from dpplearn.subsets import Subsets


class Spectral(Distribution):
    """A distribution that is sampled from orthonormal vectors: it picks some of them, then as many items."""

    @property
    @abstractmethod
    def _plain_tables(self) -> Tables:
        """The tables of the spectral sampler, without alias tables."""

    def _draw(self, method: str, size: int, rng: np.random.Generator, jobs: int) -> tuple[IntArray, IntArray]:  # noqa: ARG002  # a k-DPP has one
        tables = self._sampling_tables(size)
        return sample_spectral(tables, size, rng, expected_size=self.expected_size, n_jobs=jobs)

    def _sampling_tables(self, size: int) -> Tables:
        """The tables for `size` samples, with alias tables if these pay; they do not depend on earlier draws."""
        repaid = size * (1.0 + self.expected_size**2) > 4 * self._plain_tables.V.shape[1]
        return self._alias_tables if repaid else self._plain_tables

    @cached_property
    def _alias_tables(self) -> Tables:
        return with_alias(self._plain_tables)


class Determinantal(Spectral, PointProcess):
    """A process whose marginal kernel is symmetric: K = V diag(p) V^T, equation (7)."""

    @property
    @abstractmethod
    def _operand(self) -> Operand:
        """L as an array or as rows; an error says why if there is no L."""

    @property
    @abstractmethod
    def eigenpairs(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues of L, ascending, and orthonormal eigenvectors as columns; of a low-rank L only the nonzero."""

    @cached_property
    def spectrum(self) -> Spectrum:
        """K = V diag(p) V^T (equation 7) and log det(L + I)."""
        lam, V = self.eigenpairs
        if lam.size and lam[-1] > WIDE:  # eigenvalues near 1 would be lost in the rounding of the largest
            return spectrum_wide(self._operand.factor())
        return Spectrum(lam / (1 + lam), V, float(np.log1p(lam).sum()))

    @cached_property
    def quality(self) -> FloatArray:
        """q_i = sqrt(L_ii), equation (8)."""
        return frozen(np.sqrt(self._operand.diag))

    @property
    def similarity(self) -> FloatArray:
        """S_ij = L_ij / sqrt(L_ii L_jj), equation (8), an n x n array; `similarity_of` gives a block of it."""
        items = self._some_items(None)
        return frozen(self.similarity_of(items, items))

    def similarity_of(self, rows: Items, columns: Items) -> FloatArray:
        """The block S[rows, columns] of the similarity matrix; an item of quality 0 is similar only to itself."""
        i, j = check_items(rows, self.n, "rows"), check_items(columns, self.n, "columns")
        block, scale = self._operand.block(i, j), np.outer(self.quality[i], self.quality[j])
        S = np.divide(block, scale, out=np.zeros_like(block), where=scale > 0)
        return np.clip(np.where(i[:, None] == j, 1.0, S), -1.0, 1.0)

    @property
    def has_L(self) -> bool:
        """Whether there is a likelihood kernel; only a DPP made from K may lack one."""
        return True

    # Probabilities

    @property
    def log_normalizer(self) -> float:
        """log det(L + I), the sum over all subsets of equation (5)."""
        _ = self._operand  # raises if there is no L
        return self.spectrum.log_normalizer

    def _log_prob(self, Y: IntArray) -> float:
        return self._operand.logdet(Y) - self.spectrum.log_normalizer

    def _log_probs(self, subsets: Subsets) -> FloatArray:
        if self._near_one:
            return super()._log_probs(subsets)
        return self._operand.logdets(subsets.indptr, subsets.indices) - self.spectrum.log_normalizer

    def _prob(self, A: IntArray, B: IntArray) -> float:
        """det(K_A) det(I - K'_B), where K' is K given A.

        If an item of B is nearly sure, I - K' has lost its digits. Then we divide the sum of det(L_Y) over all Y with A
        and without B by the sum over all Y, since sums of positive terms keep their digits.
        """
        both = np.union1d(A, B)
        K_AB = self._marginal_block(both, both)
        a, b = np.searchsorted(both, A), np.searchsorted(both, B)
        log_p = logdet(K_AB[np.ix_(a, a)])
        if log_p == -np.inf:
            return 0.0
        out = np.eye(B.size) - schur_complement(K_AB, b, a)
        if B.size and self.has_L and not self._near_one and np.linalg.eigvalsh(out)[0] < NEARLY_SURE:
            rest = remaining(self.n, A, B)
            sums = self._condition(A, B, rest).log_normalizer if rest.size else 0.0
            return float(np.exp(self._operand.logdet(A) + sums - self.log_normalizer))
        return float(np.exp(log_p + logdet(out)))

    @property
    def _near_one(self) -> bool:
        """Whether the DPP was made from a K with an eigenvalue so near 1 that L keeps no digit of its other ones."""
        return False

    # Marginals and correlations

    def _marginal_block(self, A: IntArray, B: IntArray) -> FloatArray:
        p, V, _ = self.spectrum
        return np.asarray((V[A] * p) @ V[B].T)

    @cached_property
    def marginals(self) -> FloatArray:
        """P(i in Y) = K_ii for every item, equation (2)."""
        p, V, _ = self.spectrum
        return frozen(np.clip(np.einsum("ij,ij,j->i", V, V, p), 0.0, 1.0))

    # Size

    @property
    def expected_size(self) -> float:
        """E|Y| = trace(K)."""
        return float(self.spectrum.p.sum())

    @cached_property
    def size_pmf(self) -> FloatArray:
        """P(|Y| = k) for k = 0 ... n: |Y| is a sum of independent coins, one for each eigenvector."""
        return frozen(np.append(sum_of_coins(self.spectrum.p), np.zeros(self.n - self.spectrum.p.size)))

    # Sampling

    @cached_property
    def _plain_tables(self) -> Tables:
        p, V, _ = self.spectrum
        return make_tables(p, settled(p, V))

    _methods: tuple[str, ...] = ("spectral", "cholesky")

    def _draw(self, method: str, size: int, rng: np.random.Generator, jobs: int) -> tuple[IntArray, IntArray]:
        if method == "cholesky":
            return sample_elimination(self._eliminator(), self.n, size, rng, n_jobs=jobs)
        return super()._draw(method, size, rng, jobs)

    def _eliminator(self) -> Callable[[FloatArray], IntArray]:
        """A function that draws one subset from n uniform numbers; makes K before threads share it."""
        return partial(eliminate, self.K)


def sum_of_coins(p: FloatArray) -> FloatArray:
    """P(k heads) for k = 0 ... m of m independent coins; one coin at a time, so that nothing cancels."""
    pmf = np.zeros(p.size + 1)
    pmf[0] = 1.0
    for m, x in enumerate(np.sort(p), start=1):
        pmf[1 : m + 1] = pmf[1 : m + 1] * (1 - x) + pmf[:m] * x
        pmf[0] *= 1 - x
    return pmf
