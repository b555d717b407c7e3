"""Distributions over all 2^n subsets as one array: bit i of a position says whether item i is in the subset."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpplearn._checks import FloatArray, IntArray, check_array
from dpplearn.process import ENUMERABLE, PointProcess, all_probs
from dpplearn.subsets import Subsets

Rows = NDArray[np.bool_]  # one for each subset, one column for each item

FEWER = "Of a DPP, DPP.from_marginal(dpp.K[np.ix_(A, A)]) is the distribution of Y ∩ A for fewer items A."


def check_enumerable(n: int, advice: str) -> None:
    """Raise where the subsets of n items are too many to list."""
    if n > ENUMERABLE:
        raise ValueError(f"This lists all 2^N subsets, which is done up to N = {ENUMERABLE} items; found {n}. {advice}")


def items_in(p: FloatArray) -> int:
    """n of an array of 2^n entries."""
    return p.size.bit_length() - 1


def probabilities_of(target: Any, name: str = "target") -> FloatArray:
    """P(Y) of all 2^n subsets under a distribution, or the array of them; a sum within 1e-8 of 1 is made 1.

    A distribution is a DPP, a k-DPP, an MRF, or an object of your own with `n` and a `log_prob` that takes Subsets.
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

    Infinite where the model excludes a subset that the target does not. Both are distributions on the same items, or
    arrays of 2^n probabilities (bit i of a position says whether item i is in the subset).

    Examples
    --------
    >>> fair, biased = [0.5, 0.5], [0.25, 0.75]  # one item: P(out), P(in)
    >>> round(kl_divergence(fair, biased), 4), kl_divergence(fair, [1.0, 0.0])
    (0.1438, inf)
    """
    p, q = probabilities_of(target), probabilities_of(model, "model")
    if p.size != q.size:
        raise ValueError(f"Both must be on the same number of items, found {items_in(p)} and {items_in(q)}.")
    seen = p > 0.0
    if (q[seen] == 0.0).any():
        return np.inf
    return max(float(p[seen] @ np.log(p[seen] / q[seen])), 0.0)


def positions_to_subsets(positions: IntArray, n: int) -> Subsets:
    """The subsets whose items are the bits set in each position."""
    Y = (positions[:, None] >> np.arange(n) & 1).astype(np.bool_)
    return Subsets._of(np.append(0, np.cumsum(Y.sum(axis=1))), np.nonzero(Y)[1].astype(np.int64), n)


def pair_positions(n: int) -> IntArray:
    """The position of each pair of items, and of single items on the diagonal."""
    bits = np.left_shift(1, np.arange(n))
    return np.asarray(bits[:, None] | bits)


def scores(w: FloatArray, W: FloatArray, Y: NDArray[Any]) -> FloatArray:
    """Sum of w_i and of w_ij over each row of zeros and ones."""
    return np.asarray(Y @ w + ((Y @ W) * Y).sum(axis=1) / 2)


def all_scores(w: FloatArray, W: FloatArray) -> FloatArray:
    """Sum of w_i and of w_ij of each of the 2^n subsets: the sum over its own subsets, one item at a time."""
    sums = np.zeros(1 << w.size)
    sums[pair_positions(w.size)] = W + np.diag(w)
    for i in range(w.size):
        halves = sums.reshape(-1, 2, 1 << i)
        halves[:, 1] += halves[:, 0]
    return sums


def inclusion_probs(p: FloatArray) -> FloatArray:
    """P(A in Y) of all 2^n sets A: the sum over the supersets of each, one item at a time."""
    sums = p.copy()
    for i in range(items_in(p)):
        halves = sums.reshape(-1, 2, 1 << i)
        halves[:, 0] += halves[:, 1]
    return sums


def moments(p: FloatArray) -> FloatArray:
    """P(i, j in Y) for all pairs, P(i in Y) on the diagonal."""
    return np.asarray(inclusion_probs(p)[pair_positions(items_in(p))])
