"""Distributions over all 2^n subsets as one array; bit i of a position says whether item i is in the subset."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpplearn._checks import FloatArray, IntArray, check_array
from dpplearn.process import MAX_ENUMERATED, PointProcess, all_probs
from dpplearn.subsets import Subsets

Rows = NDArray[np.bool_]  # a row for each subset, a column for each item
FEWER = "For fewer items A of a DPP, DPP.from_marginal(dpp.K[np.ix_(A, A)]) is the distribution of Y ∩ A."


def check_enumerable(n: int, advice: str) -> None:
    """Raise an error if the subsets of n items are too many to list."""
    if n > MAX_ENUMERATED:
        raise ValueError(f"All 2^N subsets can be listed only up to N = {MAX_ENUMERATED} items, found {n}. {advice}")


def items_in(p: FloatArray) -> int:
    """The n of an array with 2^n entries."""
    return p.size.bit_length() - 1


def probabilities_of(target: Any, name: str = "target") -> FloatArray:
    """P(Y) of all 2^n subsets under a distribution, or from an array whose sum is 1 within 1e-8.

    A distribution is a DPP, a k-DPP, an MRF, or another object with `n` and a `log_prob` that takes Subsets.
    """
    if isinstance(target, PointProcess):
        check_enumerable(target.n, FEWER)
        target = all_probs(np.array(target.K))
    elif hasattr(target, "log_prob"):
        check_enumerable(target.n, FEWER)
        target = np.exp(target.log_prob(positions_to_subsets(np.arange(1 << target.n), target.n)))
    p = check_array(target, name, 1)
    n = items_in(p)
    if n < 1 or p.size != 1 << n:
        raise ValueError(f"{name} must hold P(Y) of each of the 2^N subsets of N >= 1 items, found {p.size} entries.")
    check_enumerable(n, FEWER)
    total = float(p.sum())
    if p.min() < 0.0 or abs(total - 1.0) > 1e-8:
        raise ValueError(f"{name} must hold probabilities that sum to 1, found {total:.9g}, the least {p.min():.3g}.")
    return p / total


def kl_divergence(target: Any, model: Any) -> float:
    """KL(target || model) = sum of P(Y) log(P(Y) / Q(Y)) over all subsets Y, in nats.

    It is infinite if the model excludes a subset that the target does not. Both are distributions on the same items, or
    arrays of 2^n probabilities, in which bit i of a position says whether item i is in the subset.

    Examples
    --------
    >>> fair, biased = [0.5, 0.5], [0.25, 0.75]  # one item: P(out), P(in)
    >>> round(kl_divergence(fair, biased), 4), kl_divergence(fair, [1.0, 0.0])
    (0.1438, inf)
    """
    p, q = probabilities_of(target), probabilities_of(model, "model")
    if p.size != q.size:
        raise ValueError(f"Both must have the same number of items, found {items_in(p)} and {items_in(q)}.")
    seen = p > 0.0
    if (q[seen] == 0.0).any():
        return np.inf
    return max(float(p[seen] @ np.log(p[seen] / q[seen])), 0.0)


def positions_to_subsets(positions: IntArray, n: int) -> Subsets:
    """The subset of each position: the items whose bits are set."""
    Y = (positions[:, None] >> np.arange(n) & 1).astype(np.bool_)
    return Subsets._of(np.append(0, np.cumsum(Y.sum(axis=1))), np.nonzero(Y)[1].astype(np.int64), n)


def pair_positions(n: int) -> IntArray:
    """The position of each pair of items, with single items on the diagonal."""
    bits = np.left_shift(1, np.arange(n))
    return np.asarray(bits[:, None] | bits)


def scores(w: FloatArray, W: FloatArray, Y: NDArray[Any]) -> FloatArray:
    """Sum of w_i and w_ij over each row of zeros and ones."""
    return np.asarray(Y @ w + ((Y @ W) * Y).sum(axis=1) / 2)


def all_scores(w: FloatArray, W: FloatArray) -> FloatArray:
    """Sum of w_i and w_ij of all 2^n subsets, computed one item at a time."""
    sums = np.zeros(1 << w.size)
    sums[pair_positions(w.size)] = W + np.diag(w)
    for i in range(w.size):
        halves = sums.reshape(-1, 2, 1 << i)
        halves[:, 1] += halves[:, 0]
    return sums


def inclusion_probs(p: FloatArray) -> FloatArray:
    """P(A in Y) of all 2^n sets A: sums over supersets, computed one item at a time."""
    sums = p.copy()
    for i in range(items_in(p)):
        halves = sums.reshape(-1, 2, 1 << i)
        halves[:, 0] += halves[:, 1]
    return sums


def moments(p: FloatArray) -> FloatArray:
    """P(i, j in Y) for all pairs, with P(i in Y) on the diagonal."""
    return np.asarray(inclusion_probs(p)[pair_positions(items_in(p))])
