"""A DPP given the number of items: exactly k are chosen."""

from __future__ import annotations

import math
from typing import overload

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import (
    FloatArray,
    Items,
    Seed,
    check_choice,
    check_int,
    check_jobs,
    check_rng,
    check_subset,
)
from dpplearn._linalg import spectrum_wide, tilt_to_size
from dpplearn._notebook import LISTED, card, table
from dpplearn._precision import LOST, TAIL, UNSURE, rounding, singular
from dpplearn._run.progress import Progress, showing
from dpplearn.determinantal import Determinantal, odds, sum_of_coins
from dpplearn.operand import Dense
from dpplearn.process import SHOWN, Frozen, check_ground_set, frozen
from dpplearn.sampling.kdpp import log_esp, vector_probs
from dpplearn.sampling.mcmc import Moves, sample_mcmc
from dpplearn.sampling.records import Tables
from dpplearn.sampling.spectral import make_tables, sample_spectral, settled, worth_alias
from dpplearn.subsets import Subsets


class KDPP(Frozen):
    """A DPP conditioned on |Y| = k: P(Y) = det(L_Y) / e_k(lam).

    e_k is the elementary symmetric polynomial of L's eigenvalues, the sum over all sets of k items of
    det(L_Y). Scaling L by a constant changes nothing.

    Parameters
    ----------
    dpp : DPP or LowRankDPP
    k : int
        From 0 to the rank of L.

    Examples
    --------
    >>> from dpplearn import DPP
    >>> pair = KDPP(DPP([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]]), k=2)
    >>> pair.marginals.round(3)  # of the two alike, hardly ever both
    array([0.543, 0.543, 0.913])
    >>> round(float(np.exp(pair.log_prob([0, 1]))), 3)
    0.087
    """

    def __init__(self, dpp: Determinantal, k: int) -> None:
        given: object = dpp
        if not isinstance(given, Determinantal):
            hints = {
                "ImplicitDPP": "Use its sample(k=...).",
                "NonsymmetricDPP": "Fixing the size needs orthogonal eigenvectors, which it has not.",
            }
            hint = hints.get(type(given).__name__, "Pass DPP(L).")
            raise TypeError(f"dpp must be a DPP or a LowRankDPP, found {type(dpp).__name__}. {hint}")
        k = check_int(k, "k")
        if k > dpp.n:
            raise ValueError(f"k must be at most the number of items ({dpp.n}), found {k}.")
        self._set(dpp=dpp, k=k)
        _ = self._tilted  # raises where k is above the rank

    dpp: Determinantal
    k: int

    @property
    def n(self) -> int:
        """Number of items."""
        return self.dpp.n

    def __repr__(self) -> str:
        return f"<KDPP of {self.k} out of {self.n} items>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the sizes, and the items that are expected most."""
        facts = {"items": f"{self.n:,}", "size": self.k}
        if self.n > SHOWN:
            return card("KDPP", facts=facts)
        p = self.marginals
        rows = [(int(i), float(p[i])) for i in np.argsort(-p, kind="stable")[:LISTED]]
        return card("KDPP", table(("item", "probability"), rows, self.n), facts=facts)

    @cached_property
    def _tilted(self) -> tuple[FloatArray, FloatArray, float]:
        """Eigenvalues and eigenvectors of a multiple of L, and log e_k of L itself.

        Any multiple has the same k-DPP. Where the k-th eigenvalue is lost in the rounding of the largest, take the
        multiple for which about k are chosen, and its probabilities p instead: p / (1 - p) is the eigenvalue to all
        the digits that matter. e_k(L) = P(|Y| = k) det(I + cL) / c^k. A DPP given by K has these probabilities already.
        """
        if self.dpp._near_one:
            return self._of_marginals()
        lam, V = self.dpp.eigenpairs
        if self.k == 0 or (self.k <= lam.size and lam[-self.k] > max(LOST * lam[-1], 0.0)):
            whole = self._with_tail(lam, V)
            if whole is not None:
                return whole, V, float(log_esp(whole, self.k)[self.k, -1])
        factor = self.dpp._factor()
        rank = factor.pivots.size
        if self.k > rank:
            raise ValueError(
                f"k must be at most the rank of L ({rank} to working precision), found {self.k}: every set of {self.k} "
                "items has determinant 0. Add a little to the diagonal (L + 1e-6 I) if items are not meant to be alike."
            )
        log_c = tilt_to_size(factor, self.k)
        p, V, log_normalizer = spectrum_wide(factor.scaled(log_c))
        lam = p / np.maximum(1 - p, 1e-17)
        return lam, V, float(np.log(sum_of_coins(p)[self.k])) + log_normalizer - self.k * log_c

    def _with_tail(self, lam: FloatArray, V: FloatArray) -> FloatArray | None:
        """The eigenvalues, with those that are nothing beside the largest where they are something beside the k-th.

        They were set to 0, because none is known from rounding; together they are what is missing in the trace. Each
        has the share of it that its eigenvector gives, v^T L v. None where these eigenvectors are not known.
        """
        n, enough = self.n, TAIL * float(lam[-self.k]) if self.k else np.inf
        if n * singular(n) * float(lam.max(initial=0.0)) <= enough:  # however many there are
            return lam
        operand = self.dpp._operand
        missing = math.fsum(np.append(operand.diag, -lam).tolist())  # exactly: it is small beside both sums
        if missing <= enough or (lam[0] > 0.0 and lam.size == n):
            return lam
        if not isinstance(operand, Dense):
            return None
        tail = V[:, lam == 0.0]
        shares = np.maximum(np.einsum("ij,ij->j", tail, operand.L @ tail), 0.0)
        whole = lam.copy()
        whole[lam == 0.0] = shares * (missing / shares.sum())
        return whole

    def _of_marginals(self) -> tuple[FloatArray, FloatArray, float]:
        """The same where eigenvalues of K are near 1, or are 1: those directions are always taken, and so at most k."""
        p, V, _ = self.dpp.spectrum
        low, high = int(np.count_nonzero(p == 1.0)), int(np.count_nonzero(p))
        if not low <= self.k <= high:
            raise ValueError(f"k must be a size that this DPP can have, from {low} to {high}, found {self.k}.")
        lam = odds(p)
        # K knows 1 - p to rounding, and d P(v in J) = P (1 - P) d log(p / (1 - p)) for each eigenvector v
        few = rounding(self.n)
        gap = np.maximum(1 - p, few)
        taken = vector_probs(p / gap, self.k)
        if (taken * (1 - taken) * few / gap).max(initial=0.0) > UNSURE:
            raise ValueError(
                f"K does not tell the probabilities of sets of {self.k} items: they depend on how far its eigenvalues "
                f"are from 1. For some that is {gap.min():.1g} or less, of which rounding leaves too few digits. "
                f"Give the likelihood kernel, DPP(L), if you have it, or a larger k: {np.count_nonzero(p > 0.5)} "
                "eigenvalues are above 1/2."
            )
        return lam, V, float(log_esp(lam[p < 1.0], self.k - low)[-1, -1])

    @cached_property
    def _log_esp(self) -> FloatArray:
        return log_esp(self._tilted[0][::-1], self.k)  # in the order of the sampling tables

    @property
    def log_normalizer(self) -> float:
        """log e_k(lam) = log of the sum of det(L_Y) over all sets of k items."""
        self.dpp._need_L()
        return self._tilted[2]

    @overload
    def log_prob(self, subset: Subsets) -> FloatArray: ...
    @overload
    def log_prob(self, subset: Items) -> float: ...
    def log_prob(self, subset: Items | Subsets) -> float | FloatArray:
        """log P(Y = subset); -inf where it has not exactly k items."""
        shift = self.dpp.spectrum.log_normalizer - self._tilted[2]
        if isinstance(subset, Subsets):
            check_ground_set(subset, self.n)
            values = np.asarray(self.dpp.log_prob(subset)) + shift
            return np.where(subset.sizes == self.k, values, -np.inf)
        Y = check_subset(subset, self.n)
        return float(self.dpp.log_prob(Y)) + shift if Y.size == self.k else -np.inf

    @cached_property
    def marginals(self) -> FloatArray:
        """P(i in Y) = sum over eigenvectors of v_j(i)^2 lam_j e_{k-1}(the other lam) / e_k(lam)."""
        lam, V, _ = self._tilted
        return frozen(np.clip(np.einsum("ij,ij,j->i", V, V, vector_probs(lam, self.k)), 0.0, 1.0))

    def sample(
        self, size: int = 1, rng: Seed = None, *, method: str = "spectral", n_jobs: int | None = None,
        progress: bool | Progress = False,
    ) -> Subsets:  # fmt: skip
        """Draw independent subsets of k items.

        Parameters
        ----------
        size, rng, n_jobs, progress
            As for `DPP.sample`.
        method : {"spectral", "mcmc"}
            "spectral" is exact. "mcmc" is approximate: a chain that swaps one item for another.
        """
        size = check_int(size, "size")
        check_choice(method, "method", ("spectral", "mcmc"))
        generator, jobs = check_rng(rng), check_jobs(n_jobs)
        if method == "mcmc":
            entries, gram = self.dpp._need_L().entries()
            draws = sample_mcmc(Moves(entries, self.n, gram=gram), size, generator, self.k)
        else:
            with showing(progress, "Sampling"):
                draws = sample_spectral(self.sampling_tables(size), size, generator, expected_size=self.k, n_jobs=jobs)
        return Subsets._of(*draws, self.n)

    def sampling_tables(self, size: int) -> Tables:
        """What the loops of the spectral sampler read, for `size` samples."""
        fast = worth_alias(size, self.k, self._tilted[0].size)
        return self._alias_tables if fast else self._plain_tables

    @cached_property
    def _alias_tables(self) -> Tables:
        return self._tables(alias=True)

    @cached_property
    def _plain_tables(self) -> Tables:
        return self._tables(alias=False)

    def _tables(self, *, alias: bool) -> Tables:
        lam, V, _ = self._tilted
        about = lam / (lam + (lam[-max(self.k, 1)] or 1.0))  # how often a column is taken: as often as one like it
        return make_tables(np.empty(0), settled(about, V), alias=alias, log_esp=self._log_esp)
