"""The questions that every DPP answers from the spectrum of its marginal kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self, overload

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import (
    FloatArray,
    IntArray,
    Items,
    Seed,
    check_choice,
    check_disjoint,
    check_int,
    check_items,
    check_jobs,
    check_rng,
    check_subset,
    read_only,
)
from dpplearn._linalg import Factor, Spectrum, logdet, schur_complement
from dpplearn._loops.records import Tables
from dpplearn.estimate import Estimate
from dpplearn.operand import Operand
from dpplearn.sampling.cholesky import sample_cholesky
from dpplearn.sampling.mcmc import Moves, sample_mcmc
from dpplearn.sampling.spectral import make_tables, sample_spectral, worth_alias
from dpplearn.subsets import Subsets

ENUMERABLE = 20  # 2^20 subsets: a second's work
SURE = 1e200  # odds p / (1 - p) that stand for p = 1
MATRIX = 20_000  # items up to which an n x n array (3.2 GB) is made when asked for


class Frozen:
    """Attributes are set once, in __init__; what is computed from them is kept in cached properties."""

    def _set(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} objects are frozen; make a new one instead of setting {name!r}.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} objects are frozen.")


class Determinantal(Frozen, ABC):
    """A determinantal point process: P(A in Y) = det(K_A) for every set A of items, equation (1)."""

    items: IntArray
    """Number of each item in the DPP that was made first: 0 ... n-1 there. After `condition`, once or many times,
    `dpp.items[subset]` tells what the items of a subset were called at the start."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of items, N in the paper."""

    @property
    @abstractmethod
    def eigenpairs(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues of L, ascending, and orthonormal eigenvectors as columns; a low-rank L has only its rank."""

    @property
    @abstractmethod
    def spectrum(self) -> Spectrum:
        """K = V diag(p) V^T (equation 7) and log det(L + I)."""

    @abstractmethod
    def condition(self, include: Items = (), exclude: Items = ()) -> Self:
        """The DPP of the remaining items, given that some are in Y and some are not, equation (10)."""

    @property
    @abstractmethod
    def quality(self) -> FloatArray:
        """q_i = sqrt(L_ii), equation (8)."""

    @abstractmethod
    def _factor(self) -> Factor:
        """L by pivots, each row accurate relative to its own length."""

    @property
    @abstractmethod
    def _operand(self) -> Operand:
        """L, as an array or as rows."""

    @property
    def has_L(self) -> bool:
        """Whether there is a likelihood kernel; only a DPP given by K may have none."""
        return True

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"<{type(self).__name__} on {self.n} items>"

    # Probabilities

    @property
    def log_normalizer(self) -> float:
        """log det(L + I), the sum over all subsets of equation (5)."""
        self._need_L()
        return self.spectrum.log_normalizer

    def _need_L(self) -> Operand:
        """L, as an array or as rows; or an error that says why there is none."""
        if not self.has_L:
            _ = self.eigenpairs
        return self._operand

    @overload
    def log_prob(self, subset: Subsets) -> FloatArray: ...
    @overload
    def log_prob(self, subset: Items) -> float: ...
    def log_prob(self, subset: Items | Subsets) -> float | FloatArray:
        """log P(Y = subset) = log det(L_Y) - log det(L + I), equation (4); -inf where it cannot be.

        Parameters
        ----------
        subset : item numbers, a boolean mask of length n, or Subsets
            For Subsets, an array with one value for each.
        """
        if not isinstance(subset, Subsets):
            return self._log_prob(check_subset(subset, self.n))
        check_ground_set(subset, self.n)
        if not self._at_once:
            return np.array([self._log_prob(Y) for Y in subset])
        from dpplearn._loops.symmetric import subset_logdets

        values = subset_logdets(*self._operand.entries(), subset.indptr, subset.indices)
        return np.asarray(values - self.spectrum.log_normalizer)

    def _log_prob(self, Y: IntArray) -> float:
        return self._operand.logdet(Y) - self.spectrum.log_normalizer

    @property
    def _at_once(self) -> bool:
        """Whether a loop can read L, or all of B, for many subsets."""
        return not self._near_one

    @property
    def _near_one(self) -> bool:
        """Whether K was given and has an eigenvalue so near 1 that L, if there is one, keeps no digit of the others."""
        return False

    # Marginals and correlations

    def marginal_kernel(self, rows: Items, columns: Items) -> FloatArray:
        """The block K[rows, columns] of the marginal kernel, without the rest of it."""
        p, V, _ = self.spectrum
        A, B = check_items(rows, self.n, "rows"), check_items(columns, self.n, "columns")
        return np.asarray((V[A] * p) @ V[B].T)

    @cached_property
    def K(self) -> FloatArray:
        """Marginal kernel K = L (L + I)^-1, equations (6) and (7). An n x n array."""
        self._some_items(None)
        return self._kernel_from_spectrum()

    def _kernel_from_spectrum(self) -> FloatArray:
        p, V, _ = self.spectrum
        return frozen((V * p) @ V.T)

    @cached_property
    def marginals(self) -> FloatArray:
        """P(i in Y) = K_ii for every item, equation (2)."""
        p, V, _ = self.spectrum
        return frozen(np.clip(np.einsum("ij,ij,j->i", V, V, p), 0.0, 1.0))

    def inclusion_prob(self, A: Items) -> float:
        """P(A in Y) = det(K_A), equation (1): all items of A are chosen, and perhaps others."""
        A = check_subset(A, self.n, "A")
        return min(float(np.exp(logdet(self.marginal_kernel(A, A)))), 1.0)

    def pair_probs(self, items: Items | None = None) -> FloatArray:
        """P(i, j in Y) = K_ii K_jj - K_ij^2, equation (3), for all pairs of `items` (default: of all items).

        On the diagonal, P(i in Y).
        """
        A = self._some_items(items)
        K_A = self.marginal_kernel(A, A)
        d = self.marginals[A]
        pairs = np.maximum(np.outer(d, d) - K_A**2, 0.0)
        np.fill_diagonal(pairs, d)
        return pairs

    def correlations(self, items: Items | None = None) -> FloatArray:
        """Correlation of the indicators of items i and j: -K_ij^2 / sqrt(K_ii (1 - K_ii) K_jj (1 - K_jj)).

        1 on the diagonal, never positive off it; 0 there where an item is always or never chosen.
        """
        A = self._some_items(items)
        K_A, d = self.marginal_kernel(A, A), self.marginals[A]
        deviation = np.sqrt(d * (1 - d))
        scale = np.outer(deviation, deviation)
        correlation = np.divide(-(K_A**2), scale, out=np.zeros_like(K_A), where=scale > 0)
        np.fill_diagonal(correlation, 1.0)
        return np.maximum(correlation, -1.0)

    def _some_items(self, items: Items | None) -> IntArray:
        """The items asked about; all of them only where an n x n answer fits in memory."""
        if items is not None:
            return check_items(items, self.n, "items")
        if self.n > MATRIX:
            raise ValueError(
                f"The answer for all pairs of {self.n:,} items would be an array of {self.n**2 * 8 / 1e9:.0f} GB. "
                "Pass items=[...] for the ones you want."
            )
        return np.arange(self.n)

    def prob(self, include: Items = (), exclude: Items = ()) -> float:
        """P(every item of `include` is in Y and none of `exclude` is).

        det(K_A) det(I - K'_B), where K' is K given A. Sharing an item makes it 0: no Y has an item and lacks it.
        (`condition` on such an event, or on any other of probability 0, is an error.)
        """
        A, B = check_subset(include, self.n, "include"), check_subset(exclude, self.n, "exclude")
        if np.intersect1d(A, B).size:
            return 0.0
        both = np.union1d(A, B)
        K_AB = self.marginal_kernel(both, both)
        a, b = np.searchsorted(both, A), np.searchsorted(both, B)
        log_p = logdet(K_AB[np.ix_(a, a)])
        if log_p == -np.inf:
            return 0.0
        left = np.eye(B.size) - schur_complement(K_AB, b, a)
        return min(float(np.exp(log_p + logdet(left))), 1.0)

    def conditional_marginals(self, include: Items = (), exclude: Items = ()) -> FloatArray:
        """P(i in Y | include in Y, exclude not in Y) for all n items; 1 and 0 for those given."""
        A, B = check_disjoint(include, exclude, self.n)
        out = np.zeros(self.n)
        out[A] = 1.0
        rest = remaining(self.n, A, B)
        if rest.size:
            out[rest] = self.condition(A, B).marginals
        elif self.prob(A, B) == 0.0:
            raise impossible("include", A)
        return out

    # Size

    @property
    def expected_size(self) -> float:
        """E|Y| = trace(K)."""
        return float(self.spectrum.p.sum())

    @property
    def size_variance(self) -> float:
        """Var|Y| = sum of p (1 - p): |Y| is a sum of independent coins, one per eigenvector."""
        p = self.spectrum.p
        return float((p * (1 - p)).sum())

    @cached_property
    def size_pmf(self) -> FloatArray:
        """P(|Y| = k) for k = 0 ... n."""
        return frozen(np.append(sum_of_coins(self.spectrum.p), np.zeros(self.n - self.spectrum.p.size)))

    def entropy(self, n_samples: int = 100_000, rng: Seed = None) -> Estimate:
        """H = -sum of P(Y) log P(Y) in nats: exact up to 20 items, beyond that estimated from samples.

        Returns
        -------
        Estimate
            A float with a `standard_error`, which is 0 where the value is exact.
        """
        if self.n <= ENUMERABLE:
            from dpplearn._loops.symmetric import all_probs

            probs = all_probs(np.array(self.K))
            probs = probs[probs > 0.0]
            return Estimate(max(-float(probs @ np.log(probs)), 0.0), 0.0)
        n_samples = check_int(n_samples, "n_samples", low=2)
        surprise = -np.asarray(self.log_prob(self.sample(n_samples, rng=rng)))
        return Estimate(float(surprise.mean()), float(surprise.std(ddof=1) / np.sqrt(n_samples)))

    # Sampling

    def sample(
        self, size: int = 1, rng: Seed = None, *, method: str = "spectral", n_jobs: int | None = None
    ) -> Subsets:
        """Draw independent subsets.

        Parameters
        ----------
        size : int
            How many; 0 gives no subsets.
        rng : int, numpy.random.Generator, SeedSequence, BitGenerator or None
            The same seed gives the same subsets, whatever `n_jobs`.
        method : {"spectral", "cholesky", "mcmc"}
            "spectral" is exact; after one eigendecomposition the cost of a sample follows its size, not
            n. "cholesky" is exact and needs no eigendecomposition where K is given, at n^3 / 3
            operations a sample. "mcmc" is approximate: a Markov chain's states, n moves apart (100 at
            least) after 20 times as many (`ImplicitDPP` has the options).
        n_jobs : int, optional
            Threads; every core by default (None or -1).

        Returns
        -------
        Subsets
            A sequence of sorted index arrays.

        Notes
        -----
        The first call on a machine compiles the loops, for some ten seconds, and keeps them on disk.
        """
        size = check_int(size, "size")
        check_choice(method, "method", ("spectral", "cholesky", "mcmc"))
        generator, jobs = check_rng(rng), check_jobs(n_jobs)
        if method == "cholesky":
            draws = sample_cholesky(self._dense_K(), size, generator, n_jobs=jobs)
        elif method == "mcmc":
            entries, gram = self._need_L().entries()
            draws = sample_mcmc(Moves(entries, self.n, gram=gram), size, generator, None)
        else:
            expected = self.expected_size
            draws = sample_spectral(self.sampling_tables(size), size, generator, expected_size=expected, n_jobs=jobs)
        return Subsets._of(*draws, self.n)

    def sampling_tables(self, size: int) -> Tables:
        """What the loops of the spectral sampler read, for `size` samples."""
        fast = worth_alias(size, self.expected_size, self.spectrum.p.size)
        return self._alias_tables if fast else self._plain_tables

    @cached_property
    def _alias_tables(self) -> Tables:
        return make_tables(self.spectrum.p, self.spectrum.V, alias=True)

    @cached_property
    def _plain_tables(self) -> Tables:
        return make_tables(self.spectrum.p, self.spectrum.V, alias=False)

    def _dense_K(self) -> FloatArray:
        return self.K


def frozen(array: FloatArray) -> FloatArray:
    """The array, read-only: what a frozen object hands out cannot change it."""
    read_only(array)
    return array


def odds(p: FloatArray) -> FloatArray:
    """lam = p / (1 - p), an eigenvalue of L from one of K."""
    return np.divide(p, 1.0 - p, out=np.full_like(p, SURE), where=p < 1.0)


def sum_of_coins(p: FloatArray) -> FloatArray:
    """P(k heads) for k = 0 ... m of m independent coins; one coin at a time, so that nothing cancels."""
    pmf = np.zeros(p.size + 1)
    pmf[0] = 1.0
    for m, x in enumerate(np.sort(p), start=1):
        pmf[1 : m + 1] = pmf[1 : m + 1] * (1 - x) + pmf[:m] * x
        pmf[0] *= 1 - x
    return pmf


def check_ground_set(draws: Subsets, n: int) -> Subsets:
    """Subsets of these n items, and not of others."""
    if draws.n != n:
        raise ValueError(f"subset must hold subsets of the {n} items here, found subsets of {draws.n}.")
    return draws


def remaining(n: int, include: IntArray, exclude: IntArray) -> IntArray:
    """The items in neither set."""
    left = np.ones(n, np.bool_)
    left[include] = left[exclude] = False
    return np.flatnonzero(left)


def check_remaining(n: int, include: Items, exclude: Items) -> tuple[IntArray, IntArray, IntArray]:
    """Two disjoint sets and the items in neither, of which there must be one."""
    A, B = check_disjoint(include, exclude, n)
    rest = remaining(n, A, B)
    if rest.size == 0:
        raise ValueError(
            f"include and exclude name all {n} items, so that none remains to be random. "
            "For the probability of this outcome, ask prob(include, exclude)."
        )
    return A, B, rest


def impossible(name: str, subset: IntArray) -> ValueError:
    return ValueError(
        f"Cannot condition on {name}={subset.tolist()}: this event has probability 0. "
        "Similar items cannot be chosen together when their rows of L are linearly dependent."
    )
