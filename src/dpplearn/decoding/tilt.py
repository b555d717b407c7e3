"""One factor on all qualities, L -> e^s L, so that sets drawn cost what they should, or the best ones fill a budget."""

from __future__ import annotations

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._linalg import safe_log
from dpplearn.decoding.candidates import Candidates
from dpplearn.decoding.greedy import greedy_auto
from dpplearn.decoding.limits import Limits

MOST = 500.0  # e^s stays a float
MARGIN = float(np.log(2))  # of a tilted gain above 1


def expected_cost(lam: FloatArray, shares: FloatArray, s: float) -> float:
    """E cost(Y) = sum of K_ii cost_i under e^s L: each eigenvector j gives its share, with probability p_j.

    K_ii = sum over j of p_j v_ij^2 with p = e^s lam / (1 + e^s lam), so share_j = sum over i of cost_i v_ij^2.
    """
    return float(shares @ tilted(lam, s))


def tilted(lam: FloatArray, s: float) -> FloatArray:
    """p = e^s lam / (1 + e^s lam), which overflows nowhere."""
    return 1.0 / (1.0 + np.exp(np.minimum(-(safe_log(lam) + s), 700.0)))


def find_tilt(lam: FloatArray, V: FloatArray, cost: FloatArray, target: float) -> float:
    """The s for which sets drawn from e^s L cost `target` on average.

    L -> e^s L multiplies every quality by e^(s/2) and leaves the ranking of sets of equal size alone. Where even
    the whole span costs less than the target, the s that comes within 5% of all there is.

    Examples
    --------
    >>> lam, V = np.array([0.5, 2.0]), np.eye(2)
    >>> s = find_tilt(lam, V, np.array([3.0, 1.0]), target=2.0)
    >>> bool(np.isclose(expected_cost(lam, np.array([3.0, 1.0]), s), 2.0))
    True
    """
    from scipy.optimize import brentq  # a slow import, and only this needs it

    shares = cost @ V**2
    keep = lam > 0.0
    lam, shares = lam[keep], shares[keep]
    if lam.size == 0:
        return 0.0
    goal = min(target, 0.95 * float(shares.sum()))
    low, high = -np.log(lam.max()) - 1.0, -np.log(lam.min()) + 1.0
    while expected_cost(lam, shares, low) > goal:
        low -= 2.0 + abs(low)
    while expected_cost(lam, shares, high) < goal:
        high += 2.0 + abs(high)
    return float(brentq(lambda s: expected_cost(lam, shares, s) - goal, low, high, xtol=1e-10))


def fill_tilt(candidates: Candidates, limits: Limits) -> float:
    """The s for which sets that fill the budget are the most probable under e^s L(d), where diversity d > 0.5.

    So that a decoder that asks for the most probable set does not answer "none" where similarity alone counts. Up to
    0.5 the qualities are the model's, and so is the answer to how many items are worth choosing: s = 0. Above,
    q^a loses that scale (at 1 every gain is at most 1, and the most probable set is empty), and with a budget or a
    size limit sets are compared by log det L_Y(d) + s |Y|. With equal costs, s is so large that a set of more
    items always comes first: by Hadamard, fewer than the m that greedy reaches are worth at most the sum of the
    largest log L_ii. Otherwise s is so large that each item of its set multiplies the probability by 2 or more.
    """
    if candidates.diversity <= 0.5 or not limits.bounded:
        return 0.0
    logs = np.log(greedy_auto(candidates, limits, None, -np.inf).gains[limits.include.size :])
    if logs.size == 0:
        return 0.0
    if limits.equal:
        largest = np.sort(np.log(np.maximum(candidates.diag, 1.0)))[-logs.size :]
        return min(MOST, MARGIN + max(0.0, float(largest.sum() - logs.sum())))
    return 0.0 if logs.min() >= 0.0 else min(MOST, MARGIN - float(logs.min()))
