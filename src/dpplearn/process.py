"""The base classes of distributions over subsets, and of point processes, which answer questions from K."""

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
    frozen,
)
from dpplearn._run.progress import Progress, showing
from dpplearn.estimate import Estimate
from dpplearn.subsets import Subsets

MAX_ENUMERATED = 20  # up to so many items all subsets are listed; 2^20 take a second
MAX_MATRIX_ITEMS = 20_000  # up to so many items n x n arrays (3.2 GB) are made


class Frozen:
    """Base class of objects whose attributes are set once, in __init__; cached properties are computed from them."""

    def _set(self, **values: Any) -> None:
        self.__dict__.update(values)

    @classmethod
    def _with(cls, **values: Any) -> Self:
        """An object with these attributes, which are not checked."""
        self = cls.__new__(cls)
        self._set(**values)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} objects are frozen; make a new one instead of setting {name!r}.")


class Distribution(Frozen, ABC):
    """A distribution over the subsets Y of n items, and the questions that all of them answer."""

    items: IntArray
    """The original number of each item. They are 0 ... n-1 at first; after `condition`, `dpp.items[subset]` gives the
    original numbers of the items of a subset."""

    @property
    def n(self) -> int:
        """Number of items, N in the paper."""
        return self.items.size

    @property
    @abstractmethod
    def log_normalizer(self) -> float:
        """log of the sum of det(L_Y) over all possible Y; for a DPP it is log det(L + I), equation (5)."""

    @property
    @abstractmethod
    def marginals(self) -> FloatArray:
        """P(i in Y) for every item, equation (2)."""

    @property
    @abstractmethod
    def size_pmf(self) -> FloatArray:
        """P(|Y| = k) for k = 0 ... n."""

    @property
    def expected_size(self) -> float:
        """E|Y|."""
        return float(self.size_pmf @ np.arange(self.n + 1))

    @property
    def size_variance(self) -> float:
        """Var|Y|."""
        return float(self.size_pmf @ (np.arange(self.n + 1) - self.expected_size) ** 2)

    def condition(self, include: Items = (), exclude: Items = ()) -> Self:
        """The distribution of the remaining items, given that `include` is in Y and `exclude` is not, equation (10).

        They are numbered from 0; `items` of the result has their original numbers. In a nonsymmetric process an item
        may come only together with others. If `include` then cannot be all of Y, the result has no likelihood kernel L,
        but methods that do not need L work.

        Examples
        --------
        >>> from dpplearn import DPP
        >>> given = DPP([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]]).condition(include=[1])
        >>> given.items, given.marginals.round(3)
        (array([0, 2]), array([0.583, 0.583]))
        """
        A, B = check_disjoint(include, exclude, self.n)
        rest = remaining(self.n, A, B)
        if rest.size == 0:
            raise ValueError(
                f"include and exclude name all {self.n} items, so that none remains to be random. "
                "For the probability of this outcome, ask prob(include, exclude)."
            )
        return self._condition(A, B, rest)

    @abstractmethod
    def _condition(self, A: IntArray, B: IntArray, rest: IntArray) -> Self:
        """As `condition`, for disjoint sorted sets and the remaining items."""

    def sample(
        self, size: int = 1, rng: Seed = None, *, method: str | None = None, n_jobs: int | None = None,
        progress: bool | Progress = False,
    ) -> Subsets:  # fmt: skip
        """Draw independent subsets.

        Parameters
        ----------
        size : int
            How many subsets; may be 0.
        rng : int, numpy.random.Generator, SeedSequence, BitGenerator or None
            The same seed gives the same subsets, whatever `n_jobs`.
        method : {"spectral", "cholesky"}, or {"jumps", "elimination"} for a kernel that is not symmetric
            All are exact; the first is the default. "spectral" needs one eigendecomposition; then the cost of a sample
            depends on its size, not on n. "cholesky" (not for a k-DPP) needs none if the DPP is made from K, but takes
            n^3 / 3 operations a sample, or n d^2 for features. "jumps" goes from one chosen item to the next: after
            O(n d^2) once, a sample of k items takes O(k^2 d^2), whatever n is; its tables hold n d^2 / 32 numbers, up
            to 270 MB. "elimination" decides one item after the other, in O(n d^2) a sample.
        n_jobs : int, optional
            Threads; every core by default (None or -1).
        progress : bool
            Whether to show a bar, on a terminal or in a notebook, while samples are drawn.

        Returns
        -------
        Subsets
            A sequence of sorted index arrays.
        """
        size, method = check_int(size, "size"), check_choice(method or self._methods[0], "method", self._methods)
        generator, jobs = check_rng(rng), check_jobs(n_jobs)
        with showing(progress, "Sampling"):
            return Subsets._of(*self._draw(method, size, generator, jobs), self.n)

    _methods: tuple[str, ...]

    @abstractmethod
    def _draw(self, method: str, size: int, rng: np.random.Generator, jobs: int) -> tuple[IntArray, IntArray]:
        """indptr and indices of samples."""

    def prob(self, include: Items = (), exclude: Items = ()) -> float:
        """P(every item of `include` is in Y and no item of `exclude` is).

        It is 0 if they share an item. (`condition` on an event of probability 0 is an error.)
        """
        A, B = check_subset(include, self.n, "include"), check_subset(exclude, self.n, "exclude")
        return 0.0 if np.intersect1d(A, B).size else min(self._prob(A, B), 1.0)

    @abstractmethod
    def _prob(self, A: IntArray, B: IntArray) -> float:
        """As `prob`, for disjoint sorted sets; rounding may make it larger than 1."""

    def pair_probs(self, items: Items | None = None) -> FloatArray:
        """P(i, j in Y) for all pairs of `items` (default: all items), with P(i in Y) on the diagonal.

        For a DPP it is K_ii K_jj - K_ij K_ji, equation (3).
        """
        A = self._some_items(items)
        d = self.marginals[A]
        pairs = np.clip(np.outer(d, d) + self._covariances(A), 0.0, 1.0)
        np.fill_diagonal(pairs, d)
        return pairs

    @abstractmethod
    def _log_prob(self, Y: IntArray) -> float:
        """log P(Y)."""

    def _log_probs(self, subsets: Subsets) -> FloatArray:
        """log P(Y) of each."""
        return np.array([self._log_prob(Y) for Y in subsets])

    @abstractmethod
    def _all_probs(self) -> FloatArray:
        """P(Y) of every possible Y; only for few items."""

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"<{type(self).__name__} on {self.n} items>"

    @overload
    def log_prob(self, subset: Subsets) -> FloatArray: ...
    @overload
    def log_prob(self, subset: Items) -> float: ...
    def log_prob(self, subset: Items | Subsets) -> float | FloatArray:
        """log P(Y = subset) = log det(L_Y) - log_normalizer, equation (4); -inf for a subset that is impossible.

        Parameters
        ----------
        subset : item numbers, a boolean mask of length n, or Subsets
            For Subsets the result is an array with one value for each.
        """
        if not isinstance(subset, Subsets):
            return self._log_prob(check_subset(subset, self.n))
        return self._log_probs(check_ground_set(subset, self.n))

    def inclusion_prob(self, A: Items) -> float:
        """P(A in Y), where Y may have other items too; det(K_A) for a DPP, equation (1)."""
        return self.prob(check_subset(A, self.n, "A"))

    def correlations(self, items: Items | None = None) -> FloatArray:
        """Correlation of the indicators of items i and j, with 1 on the diagonal.

        It is 0 if an item is always or never chosen, and never positive if the kernel is symmetric.
        """
        A = self._some_items(items)
        d = self.marginals[A]
        deviation = np.sqrt(d * (1 - d))
        scale, covariance = np.outer(deviation, deviation), self._covariances(A)
        correlation = np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0)
        np.fill_diagonal(correlation, 1.0)
        return np.clip(correlation, -1.0, 1.0)

    @abstractmethod
    def _covariances(self, A: IntArray) -> FloatArray:
        """Covariances of the indicators of different items; the diagonal is not used."""

    def _some_items(self, items: Items | None) -> IntArray:
        """The given items, or all; raises an error if there are too many for an n x n array."""
        if items is not None:
            return check_items(items, self.n, "items")
        if self.n > MAX_MATRIX_ITEMS:
            raise ValueError(
                f"The answer for all pairs of {self.n:,} items would be an array of {self.n**2 * 8 / 1e9:.0f} GB. "
                "Pass items=[...] for some of them."
            )
        return np.arange(self.n)

    def conditional_marginals(self, include: Items = (), exclude: Items = ()) -> FloatArray:
        """P(i in Y | include in Y, exclude not in Y) for all n items: 1 for those of `include`, 0 for `exclude`."""
        A, B = check_disjoint(include, exclude, self.n)
        out = np.zeros(self.n)
        out[A] = 1.0
        rest = remaining(self.n, A, B)
        if rest.size:
            out[rest] = self.condition(A, B).marginals
        elif self.prob(A, B) == 0.0:
            raise impossible(include=A, exclude=B)
        return out

    def entropy(self, n_samples: int = 100_000, rng: Seed = None) -> Estimate:
        """H = -sum of P(Y) log P(Y) in nats: exact up to 20 items, estimated from samples for more.

        Returns
        -------
        Estimate
            A float with a `standard_error`, which is 0 if the value is exact.
        """
        if self.n <= MAX_ENUMERATED:
            probs = self._all_probs()
            probs = probs[probs > 0.0]
            return Estimate(max(0.0, -float(probs @ np.log(probs))), 0.0)
        n_samples = check_int(n_samples, "n_samples", low=2)
        surprise = -np.asarray(self.log_prob(self.sample(n_samples, rng=rng)))
        return Estimate(float(surprise.mean()), float(surprise.std(ddof=1) / np.sqrt(n_samples)))


class PointProcess(Distribution):
    """A determinantal point process: P(A in Y) = det(K_A) for every set A of items, equation (1)."""

    def marginal_kernel(self, rows: Items, columns: Items) -> FloatArray:
        """The block K[rows, columns] of the marginal kernel; the rest is not computed."""
        return self._marginal_block(check_items(rows, self.n, "rows"), check_items(columns, self.n, "columns"))

    @abstractmethod
    def _marginal_block(self, A: IntArray, B: IntArray) -> FloatArray:
        """The block of the marginal kernel with the rows A and the columns B."""

    @cached_property
    def K(self) -> FloatArray:
        """Marginal kernel K = L (L + I)^-1, equations (6) and (7). An n x n array."""
        items = self._some_items(None)
        return frozen(self.marginal_kernel(items, items))

    def _covariances(self, A: IntArray) -> FloatArray:
        K_A = self._marginal_block(A, A)
        return np.asarray(-K_A * K_A.T)

    def _all_probs(self) -> FloatArray:
        return all_probs(self.K)


def all_probs(K: FloatArray) -> FloatArray:
    """P(Y) of all 2^n subsets from the marginal kernel; bit i of the position says whether item i is in Y.

    It goes from item to item, for all choices of the earlier items at once: the pivot is the probability of the item
    given these choices, and a rank-one update conditions the rest of the kernel on the item.

    >>> all_probs(np.diag([0.5, 0.75]))
    array([0.125, 0.125, 0.375, 0.375])
    """
    A, probs = K[None], np.ones(1)
    while A.shape[1]:
        p = np.clip(A[:, 0, 0], 0.0, 1.0)
        probs = np.concatenate([probs * (1 - p), probs * p])
        pivots, column = np.concatenate([p - 1, p])[:, None], np.tile(A[:, 1:, 0], (2, 1))
        f = np.divide(column, pivots, out=np.zeros_like(column), where=pivots != 0.0)
        A = np.tile(A[:, 1:, 1:], (2, 1, 1)) - f[:, :, None] * np.tile(A[:, :1, 1:], (2, 1, 1))
    return probs


def check_ground_set(draws: Subsets, n: int) -> Subsets:
    """The subsets, or an error if they are not subsets of n items."""
    if draws.n != n:
        raise ValueError(f"subset must hold subsets of the {n} items here, found subsets of {draws.n}.")
    return draws


def remaining(n: int, include: IntArray, exclude: IntArray) -> IntArray:
    """The items in neither set."""
    left = np.ones(n, np.bool_)
    left[include] = left[exclude] = False
    return np.flatnonzero(left)


def impossible(**given: IntArray) -> ValueError:
    """The error for `include` or `exclude` if no possible Y agrees with them."""
    event = " and ".join(f"{name}={subset.tolist()}" for name, subset in given.items() if subset.size)
    return ValueError(
        f"Cannot condition on {event}: this event has probability 0. "
        "Similar items cannot be chosen together when their rows of L are linearly dependent."
    )
