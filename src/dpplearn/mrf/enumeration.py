"""Distributions over all 2^n subsets as one array: bit i of a position says whether item i is in the subset."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpplearn._checks import FloatArray, IntArray, check_array
from dpplearn.process import ENUMERABLE, PointProcess, all_probs
from dpplearn.subsets import Subsets

Rows = NDArray[np.bool_]  # one for each subset, one column for each item


@runtime_checkable
class SetDistribution(Protocol):
    """What the fits need of a distribution over the subsets of n items: a DPP, a k-DPP, an MRF or your own."""

    @property
    def n(self) -> int:
        """Number of items."""

    def log_prob(self, subset: Any) -> Any:
        """log P(Y = subset); an array for Subsets."""


FEWER = (
    f"Take a distribution over at most {ENUMERABLE} of the items A: "
    "of a DPP that is DPP.from_marginal(dpp.K[np.ix_(A, A)]), the distribution of Y ∩ A."
)


def check_enumerable(n: int, advice: str) -> int:
    """A number of items whose subsets can all be listed."""
    if n > ENUMERABLE:
        raise ValueError(f"This lists all 2^N subsets, which is done up to N = {ENUMERABLE} items; found {n}. {advice}")
    return n


def items_in(p: FloatArray) -> int:
    """n of an array of 2^n entries."""
    return p.size.bit_length() - 1


def probabilities_of(target: SetDistribution | ArrayLike, name: str = "target") -> FloatArray:
    """P(Y) of all 2^n subsets under a distribution, or the array of them; a sum within 1e-8 of 1 is made 1."""
    known: Any = target
    if isinstance(target, SetDistribution):
        n = check_enumerable(target.n, FEWER)
        known = getattr(target, "probabilities", None)  # an MRF has them all
        if known is None and isinstance(target, PointProcess):
            known = all_probs(np.array(target.K))
        if known is None:
            known = np.exp(target.log_prob(all_subsets(n)))
    p = check_array(known, name, 1)
    n = items_in(p)
    if n < 1 or p.size != 1 << n:
        raise ValueError(
            f"{name} must hold the probability of each of the 2^N subsets of N >= 1 items, found {p.size} entries. "
            "Bit i of a position says whether item i is in the subset."
        )
    check_enumerable(n, FEWER)
    if p.min() < 0.0:
        at = int(p.argmin())
        raise ValueError(f"{name} must not be negative, but {name}[{at}] is {p[at]:.3g}.")
    total = float(p.sum())
    if abs(total - 1.0) > 1e-8:
        raise ValueError(
            f"{name} must sum to 1, found {total:.9g}. Pass {name} / {name}.sum() if that is what you mean."
        )
    return p / total


def kl_divergence(target: SetDistribution | ArrayLike, model: SetDistribution | ArrayLike) -> float:
    """KL(target || model) = sum of P(Y) log(P(Y) / Q(Y)) over all subsets Y, in nats.

    Infinite where the model excludes a subset that the target does not. Both are distributions on the same items, or
    arrays of 2^n probabilities (bit i of a position says whether item i is in the subset).

    Examples
    --------
    >>> fair, biased = [0.5, 0.5], [0.25, 0.75]  # one item: P(out), P(in)
    >>> round(kl_divergence(fair, biased), 4)
    0.1438
    >>> kl_divergence(fair, [1.0, 0.0])
    inf
    """
    p, q = probabilities_of(target), probabilities_of(model, "model")
    if p.size != q.size:
        found = f"{items_in(p)} and {items_in(q)}"
        raise ValueError(f"target and model must be on the same number of items, found {found}.")
    seen = p > 0.0
    if (q[seen] == 0.0).any():
        return np.inf
    return max(float(p[seen] @ np.log(p[seen] / q[seen])), 0.0)


def all_subsets(n: int) -> Subsets:
    """All 2^n subsets in the order of their positions."""
    return positions_to_subsets(np.arange(1 << n), n)


def positions_to_subsets(positions: IntArray, n: int) -> Subsets:
    """The subsets whose items are the bits set in each position."""
    bits = np.unpackbits(positions.astype("<u4").view(np.uint8).reshape(-1, 4), axis=1, bitorder="little")
    return rows_to_subsets(bits[:, :n].astype(np.bool_))


def rows_to_subsets(Y: Rows) -> Subsets:
    """Subsets whose items are those of each row."""
    indptr = np.concatenate([[0], np.cumsum(Y.sum(axis=1))])
    return Subsets._of(indptr, np.nonzero(Y)[1].astype(np.int64), Y.shape[1])


def subsets_to_positions(subsets: Subsets) -> IntArray:
    """Sum of 2^i over the items i of each subset."""
    sums = np.concatenate([[0], np.cumsum(np.left_shift(1, subsets.indices))])
    return np.asarray(sums[subsets.indptr[1:]] - sums[subsets.indptr[:-1]], np.int64)


def scores(w: FloatArray, W: FloatArray, Y: NDArray[Any]) -> FloatArray:
    """Sum of w_i and of w_ij over each row of zeros and ones."""
    return np.asarray(Y @ w + ((Y @ W) * Y).sum(axis=1) / 2)


def halves(n: int) -> tuple[FloatArray, FloatArray]:
    """All choices on the upper half of the items, and on the lower: rows of zeros and ones.

    An array of 2^n entries, reshaped to these two lengths, is a table of which BLAS takes the sums.
    """
    upper, lower = ((np.arange(1 << k)[:, None] >> np.arange(k) & 1).astype(np.float64) for k in (n - n // 2, n // 2))
    return upper, lower


def quadratic_sums(w: FloatArray, W: FloatArray) -> FloatArray:
    """Sum of w_i and of w_ij over the items and pairs of each of the 2^n subsets."""
    (upper, lower), k = halves(w.size), w.size // 2
    apart = scores(w[k:], W[k:, k:], upper)[:, None] + scores(w[:k], W[:k, :k], lower)
    return np.asarray(apart + upper @ W[k:, :k] @ lower.T).ravel()


def log_probs(w: FloatArray, W: FloatArray) -> tuple[FloatArray, float]:
    """log P(Y) of all subsets under the MRF (11), and the log of the sum that normalizes them."""
    scores = quadratic_sums(w, W)
    top = float(scores.max())
    log_normalizer = top + float(np.log(np.exp(scores - top).sum()))
    scores -= log_normalizer
    return scores, log_normalizer


def moments(p: FloatArray) -> FloatArray:
    """P(i, j in Y) for all pairs, P(i in Y) on the diagonal."""
    upper, lower = halves(items_in(p))
    table = p.reshape(len(upper), len(lower))
    across = upper.T @ table @ lower
    within = [(Y.T * table.sum(axis=axis)) @ Y for axis, Y in ((0, lower), (1, upper))]
    return np.block([[within[0], across.T], [across, within[1]]])


def inclusion_probs(p: FloatArray) -> FloatArray:
    """P(A in Y) of all 2^n sets A: the sum over the supersets of each, one item at a time."""
    sums = p.copy()
    for i in range(items_in(p)):
        halves = sums.reshape(-1, 2, 1 << i)
        halves[:, 0] += halves[:, 1]
    return sums
