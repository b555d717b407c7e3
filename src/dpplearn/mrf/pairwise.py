"""The repulsive pairwise Markov random field of section 3, with exact answers by enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, Seed, check_int, check_rng, check_square, check_subset, check_vector, frozen
from dpplearn.estimate import Estimate
from dpplearn.mrf.enumeration import all_scores, check_enumerable, moments, positions_to_subsets
from dpplearn.process import Frozen, check_ground_set
from dpplearn.subsets import Subsets

BEYOND = "Use dpplearn.mrf.approximate(mrf), or a DPP, which needs no list of subsets."


class PairwiseMRF(Frozen):
    """Pairwise log-linear model of subsets, with repulsion between items, equation (11).

    A subset Y has probability proportional to exp(sum of w_i over Y + sum of w_ij over the pairs in Y). All answers but
    `score` are sums over the 2^n subsets, which is possible up to n = 20. For more items, use `approximate`.

    Parameters
    ----------
    w : array of shape (n,)
        Weight of each item, of any sign.
    W : array of shape (n, n)
        Weight w_ij of each pair: symmetric, finite, not positive, and zero on the diagonal. For a pair that must not
        occur use -1000: its probability is then 0 as a float, unless w is as large.
    repulsive : bool
        False allows positive weights, of pairs that attract each other. No DPP has such pairs.

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
        pairs = check_square(W, "W")
        if pairs.diagonal().any():
            raise ValueError("W must have zeros on its diagonal. Add the diagonal to w, since y_i^2 = y_i.")
        if repulsive and pairs.max() > 0.0:
            i, j = np.unravel_index(int(pairs.argmax()), pairs.shape)
            what = f"but items {i} and {j} attract: W[{i}, {j}] is {pairs[i, j]:.3g}"
            raise ValueError(f"W must hold repulsions, w_ij <= 0, {what}. Pass np.minimum(W, 0), or repulsive=False.")
        unary = check_vector(w, "w", len(pairs))
        self._set(w=frozen(unary), W=frozen(pairs), repulsive=bool(repulsive))

    @property
    def n(self) -> int:
        """Number of items, N in the paper."""
        return int(self.w.size)

    def __repr__(self) -> str:
        return f"<PairwiseMRF on {self.n} items>"

    def score(self, subset: ArrayLike | Subsets) -> Any:
        """Sum of w_i over the items and w_ij over the pairs of a subset, for any n; for Subsets an array."""
        if isinstance(subset, Subsets):
            Y = check_ground_set(subset, self.n).to_sparse().astype(np.float64)
            return Y @ self.w + np.asarray(Y.multiply(Y @ self.W).sum(axis=1)).ravel() / 2
        items = check_subset(subset, self.n)
        return float(self.w[items].sum() + self.W[np.ix_(items, items)].sum() / 2)

    @cached_property
    def _weighed(self) -> tuple[FloatArray, float]:
        check_enumerable(self.n, BEYOND)
        scores = all_scores(self.w, self.W)
        log_normalizer = float(logsumexp(scores))
        return frozen(scores - log_normalizer), log_normalizer

    @property
    def log_normalizer(self) -> float:
        """log of the sum over all subsets of exp(sum of w_i + sum of w_ij)."""
        return self._weighed[1]

    @cached_property
    def probabilities(self) -> FloatArray:
        """P(Y) of all 2^n subsets, where bit i of a position says whether item i is in Y: {}, {0}, {1}, {0, 1} ..."""
        return frozen(np.exp(self._weighed[0]))

    def log_prob(self, subset: ArrayLike | Subsets) -> Any:
        """log P(Y = subset), equation (11); for Subsets an array."""
        return self.score(subset) - self.log_normalizer

    @cached_property
    def marginals(self) -> FloatArray:
        """P(i in Y) for every item."""
        return frozen(self.pair_probs().diagonal().copy())

    def pair_probs(self) -> FloatArray:
        """P(i, j in Y) for all pairs, with P(i in Y) on the diagonal."""
        return np.clip(moments(self.probabilities), 0.0, 1.0)

    def entropy(self) -> Estimate:
        """H = -sum of P(Y) log P(Y) in nats, with standard error 0."""
        return Estimate(max(-float(self.probabilities @ self._weighed[0]), 0.0), 0.0)

    def sample(self, size: int = 1, rng: Seed = None) -> Subsets:
        """Draw independent subsets from the list of all probabilities."""
        p, size = self.probabilities, check_int(size, "size")
        return positions_to_subsets(check_rng(rng).choice(p.size, size, p=p / p.sum()), self.n)
