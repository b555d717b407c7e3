"""The repulsive pairwise Markov random field of section 3, by enumeration."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._cached import cached_property
from dpplearn._checks import (
    FloatArray,
    Items,
    Seed,
    check_array,
    check_int,
    check_items,
    check_rng,
    check_square,
    check_subset,
    check_vector,
    frozen,
    read_only,
)
from dpplearn._holders import as_numbers
from dpplearn.estimate import Estimate
from dpplearn.mrf.enumeration import check_enumerable, log_probs, moments, positions_to_subsets
from dpplearn.process import Frozen, check_ground_set
from dpplearn.subsets import Subsets

BEYOND = "Use dpplearn.mrf.approximate(mrf), or a DPP, whose probabilities, marginals and samples need no list."


class PairwiseMRF(Frozen):
    """Pairwise log-linear model of a subset, with repulsion between items, equation (11).

    A subset Y has probability proportional to exp(sum of w_i over Y + sum of w_ij over the pairs in Y). All answers but
    `score` are sums over the 2^n subsets, given up to n = 20. Beyond, `approximate` answers nearly; `fit_dpp_to` finds
    the closest DPP.

    Parameters
    ----------
    w : array of shape (n,)
        Weight of each item, of any sign.
    W : array of shape (n, n)
        Weight w_ij of each pair: symmetric, zeros on the diagonal, none positive, all finite. A pair that must not
        occur has -1000, which makes its probability 0 as a float unless w is as large.
    repulsive : bool
        False allows positive weights, of pairs that attract one another; no DPP has such pairs.

    Examples
    --------
    >>> W = [[0.0, -3.0, 0.0], [-3.0, 0.0, -3.0], [0.0, -3.0, 0.0]]  # item 1 repels both others
    >>> mrf = PairwiseMRF([0.0, 0.0, 0.0], W)
    >>> mrf.marginals.round(3)
    array([0.402, 0.216, 0.402])
    >>> mrf.pair_probs().round(3)
    array([[0.402, 0.01 , 0.196],
           [0.01 , 0.216, 0.01 ],
           [0.196, 0.01 , 0.402]])
    >>> mrf.sample(3, rng=0)[0]
    array([2])
    >>> mrf.score([0, 1])
    -3.0
    """

    w: FloatArray
    W: FloatArray
    repulsive: bool

    def __init__(self, w: ArrayLike, W: ArrayLike, *, repulsive: bool = True) -> None:
        pairs = check_pair_weights(W, repulsive)
        unary = check_vector(w, "w", len(pairs))
        with np.errstate(over="ignore"):
            largest = np.abs(unary).sum() + np.abs(pairs).sum()
        if not np.isfinite(largest):
            raise ValueError("w and W must be small enough for their sums to be floats.")
        read_only(unary, pairs)
        self._set(w=unary, W=pairs, repulsive=bool(repulsive))

    @property
    def n(self) -> int:
        """Number of items, N in the paper."""
        return int(self.w.size)

    def __repr__(self) -> str:
        return f"<PairwiseMRF on {self.n} items>"

    def score(self, subset: Items | Subsets) -> Any:
        """Sum of w_i over the items and of w_ij over the pairs of a subset, for any n; an array for Subsets."""
        if isinstance(subset, Subsets):
            Y = check_ground_set(subset, self.n).to_sparse().astype(np.float64)
            return Y @ self.w + np.asarray(Y.multiply(Y @ self.W).sum(axis=1)).ravel() / 2
        items = check_subset(subset, self.n)
        return float(self.w[items].sum() + self.W[np.ix_(items, items)].sum() / 2)

    @cached_property
    def _weighed(self) -> tuple[FloatArray, float]:
        check_enumerable(self.n, BEYOND)
        log_p, log_normalizer = log_probs(self.w, self.W)
        return frozen(log_p), log_normalizer

    @property
    def log_normalizer(self) -> float:
        """log of the sum over all subsets of exp(sum of w_i + sum of w_ij)."""
        return self._weighed[1]

    @cached_property
    def probabilities(self) -> FloatArray:
        """P(Y) of all 2^n subsets; bit i of a position says whether item i is in Y: {}, {0}, {1}, {0, 1}, {2} ..."""
        return frozen(np.exp(self._weighed[0]))

    @overload
    def log_prob(self, subset: Subsets) -> FloatArray: ...
    @overload
    def log_prob(self, subset: Items) -> float: ...
    def log_prob(self, subset: Items | Subsets) -> float | FloatArray:
        """log P(Y = subset), equation (11); for Subsets, an array with one value for each."""
        log_p, _ = self._weighed
        if not isinstance(subset, Subsets):
            return float(log_p[np.left_shift(1, check_subset(subset, self.n)).sum()])
        Y = check_ground_set(subset, self.n)
        sums = np.append(0, np.cumsum(np.left_shift(1, Y.indices)))  # of the bits of all items, subset after subset
        return np.asarray(log_p[sums[Y.indptr[1:]] - sums[Y.indptr[:-1]]])

    @cached_property
    def _moments(self) -> FloatArray:
        return frozen(np.clip(moments(self.probabilities), 0.0, 1.0))

    @cached_property
    def marginals(self) -> FloatArray:
        """P(i in Y) for every item."""
        return frozen(self._moments.diagonal().copy())

    def pair_probs(self, items: Items | None = None) -> FloatArray:
        """P(i, j in Y) for all pairs of `items` (default: of all items); on the diagonal, P(i in Y)."""
        A = np.arange(self.n) if items is None else check_items(items, self.n, "items")
        return np.array(self._moments[np.ix_(A, A)])

    def entropy(self) -> Estimate:
        """H = -sum of P(Y) log P(Y) in nats, exact: its `standard_error` is 0."""
        return Estimate(max(-float(self.probabilities @ self._weighed[0]), 0.0), 0.0)

    def sample(self, size: int = 1, rng: Seed = None) -> Subsets:
        """Draw independent subsets, exactly, from the list of all probabilities; the same for the same seed."""
        size, generator = check_int(size, "size"), check_rng(rng)
        totals = np.cumsum(self.probabilities)
        drawn = np.searchsorted(totals, generator.random(size) * totals[-1], side="right")
        last = int(np.flatnonzero(self.probabilities)[-1])  # rounding never draws what cannot be
        return positions_to_subsets(np.minimum(drawn, last), self.n)


def check_pair_weights(W: ArrayLike, repulsive: bool) -> FloatArray:
    """A symmetric matrix with zeros on its diagonal, and with `repulsive` no positive entry."""
    if np.isneginf(np.asarray(as_numbers(W, "W", 2), np.float64)).any():
        advice = "A pair that must not occur has -1000, or so much below 0 as w is above: pass np.maximum(W, -1000)."
        raise ValueError(f"W must be finite, but it holds -inf. {advice}")
    pairs = check_array(W, "W", 2)
    if pairs.any() and not (np.triu(pairs).any() and np.tril(pairs).any()):
        raise ValueError("W must be symmetric, but holds each pair once (it is triangular). Pass W + W.T.")
    pairs = check_square(pairs, "W")
    if pairs.diagonal().any():
        i = int(np.flatnonzero(pairs.diagonal())[0])
        raise ValueError(
            f"W must have zeros on its diagonal, but W[{i}, {i}] is {pairs[i, i]:.3g}. Add it to w[{i}]: y_i^2 = y_i."
        )
    if repulsive and pairs.max() > 0.0:
        i, j = (int(k) for k in np.unravel_index(int(pairs.argmax()), pairs.shape))
        raise ValueError(
            f"W must hold repulsions, w_ij <= 0, but items {i} and {j} attract: W[{i}, {j}] is {pairs[i, j]:.3g}. "
            "Pass np.minimum(W, 0) to drop attractions, or repulsive=False to keep them."
        )
    return pairs
