"""Tilts a model, L -> e^s L: one factor on all qualities, so that sets have the right cost, or fill a budget."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from dpplearn._checks import FloatArray
from dpplearn._linalg import safe_log
from dpplearn.decoding.candidates import Candidates
from dpplearn.decoding.greedy import greedy_run
from dpplearn.decoding.limits import Limits
from dpplearn.dpp import DPP
from dpplearn.lowrank import LowRankDPP

MAX_SHARE = 0.95  # no target is above this share of the cost of all items that can be drawn
NEWTON_STEPS = 8  # most Newton steps; two or three are enough
LARGEST_TILTED = 1e6  # if some e^s L_ii is larger, eigenvectors are more accurate
MAX_TILT = 500.0  # largest s, so that e^s is a float
LEAST_LOG_GAIN = float(np.log(2))  # least log of a tilted gain


def tilted(lam: FloatArray, s: float) -> FloatArray:
    """p = e^s lam / (1 + e^s lam) for any s, also -inf."""
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-(safe_log(lam) + s))))


def find_tilt(lam: FloatArray, V: FloatArray, cost: FloatArray, target: float) -> float:
    """The s for which sets drawn from e^s L cost `target` on average.

    L -> e^s L multiplies every quality by e^(s/2) and does not change the ranking of sets of equal size. If the largest
    sets cost less than the target, their cost times MAX_SHARE is the target. For a target of 0 or below, s = -inf.

    E cost(Y) = sum of K_ii cost_i, where K_ii = sum over j of p_j v_ij^2.

    Examples
    --------
    >>> lam, V = np.array([0.5, 2.0]), np.eye(2)
    >>> s = find_tilt(lam, V, np.array([3.0, 1.0]), target=2.0)
    >>> round(float(tilted(lam, s) @ [3.0, 1.0]), 9)
    2.0
    """
    from scipy.optimize import brentq  # a slow import, and only this needs it

    shares = cost @ V**2
    keep = lam > 0.0
    lam, shares = lam[keep], shares[keep]
    if lam.size == 0:
        return 0.0
    if target <= 0.0:
        return -np.inf
    goal = min(target, MAX_SHARE * float(shares.sum()))

    def excess(s: float) -> float:
        return float(shares @ tilted(lam, s)) - goal

    low, high = -np.log(lam.max()) - 1.0, -np.log(lam.min()) + 1.0
    while excess(low) > 0.0:
        low -= 2.0 + abs(low)
    while excess(high) < 0.0:
        high += 2.0 + abs(high)
    return float(brentq(excess, low, high, xtol=1e-10))


def tilted_kernel(dpp: DPP | LowRankDPP, cost: FloatArray, target: float, near: float = 1e-11) -> FloatArray:
    """K of e^s L for the s of `find_tilt`, by a few Cholesky factors, or by eigenvectors if `by_newton` gives up.

    The entries off the diagonal may be those of an s that differs from it by `near`.
    """
    K = None if isinstance(dpp, LowRankDPP) or dpp._L is None else by_newton(dpp.L, cost, target, near)
    if K is None:
        lam, V = dpp.eigenpairs
        K = (V * tilted(lam, find_tilt(lam, V, cost, target))) @ V.T
    return np.ascontiguousarray(K)


def by_newton(L: FloatArray, cost: FloatArray, target: float, near: float) -> FloatArray | None:
    """K by Newton's method in s; None if eigenvectors are the better way.

    With x = e^s and K = I - (I + x L)^-1, sets cost E = sum of c_i K_ii on average, and dK/ds = K - K^2. log E is
    nearly linear in s. If dE/ds is below 1/MAX_SHARE - 1 times E, E may be above MAX_SHARE times the largest cost.
    """
    n, diag = len(L), L.diagonal()
    first, second = float(cost @ diag), float(cost @ np.einsum("ij,ij->i", L, L))
    if target <= 0.0 or first**2 <= 1.1 * target * second:
        return None
    x = target / (first - target * second / first)  # x first / (1 + x second / first) is E up to terms in x^3
    for _ in range(NEWTON_STEPS):
        if x * diag.max() > LARGEST_TILTED:
            return None
        A = x * L
        A.flat[:: n + 1] += 1.0
        C, info = lapack.dpotrf(A.T, lower=1, overwrite_a=1)
        if info != 0:
            return None
        lower, _ = lapack.dpotri(C, lower=1, overwrite_c=1)  # (I + x L)^-1; above the diagonal it is 0
        p = np.maximum(1.0 - lower.diagonal(), 0.0)
        lower.flat[:: n + 1] = 0.0
        slope = p - p**2 - np.einsum("ij,ij->i", lower, lower) - np.einsum("ij,ij->j", lower, lower)
        E, rise = float(cost @ p), float(cost @ slope)
        if rise <= (1.0 / MAX_SHARE - 1.0) * max(E, target):
            return None
        step = float(np.log(target / E)) * E / rise
        if abs(step) <= near:
            K = -lower - lower.T
            K.flat[:: n + 1] = np.clip(p + step * slope, 0.0, 1.0)
            return K
        x *= float(np.exp(min(max(step, -3.0), 3.0)))
    return None


def fill_tilt(candidates: Candidates, limits: Limits, sized: bool = False) -> float:
    """The s for which the most probable sets under e^s L(d) fill the budget or the size limit, if diversity d > 0.5.

    Up to 0.5, s = 0: the model's qualities say how many items are worth choosing. Above, they no longer do: at d = 1
    every gain is at most 1, and the most probable set is empty. So sets are compared by log det L_Y(d) + s |Y|. With
    equal costs, s is so large that sets of more items always come first: by Hadamard, a set smaller than that of greedy
    has at most the sum of its largest log L_ii. With other costs, s is so large that every item of greedy's set
    multiplies the probability by 2 or more. With `sized`, more items come first at any diversity and for any costs.
    Candidates that have a tilt keep it.
    """
    if candidates.tilt or not limits.bounded or (candidates.diversity <= 0.5 and not sized):
        return candidates.tilt
    logs = np.log(greedy_run(candidates, limits, -np.inf).gains[limits.include.size :])
    if logs.size == 0:
        return 0.0
    if limits.equal_costs or sized:
        largest = np.sort(np.log(np.maximum(candidates.diag, 1.0)))[-logs.size :]
        return min(MAX_TILT, LEAST_LOG_GAIN + max(0.0, float(largest.sum() - logs.sum())))
    return 0.0 if logs.min() >= 0.0 else min(MAX_TILT, LEAST_LOG_GAIN - float(logs.min()))
