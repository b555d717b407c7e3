"""Two items: the DPP and the repulsive MRF are the same distributions, those with p12 <= p1 p2, equation (13).

The MRF has the weights w_i = log P({i}) - log P({}) and w12 = log P({1, 2}) + log P({}) - log P({1}) - log P({2}), the
DPP the qualities q_i = exp(w_i / 2) and the similarity S = sqrt(1 - exp(w12)).
"""

from __future__ import annotations

import numpy as np

from dpplearn._checks import FloatArray, check_between
from dpplearn.dpp import DPP
from dpplearn.mrf.pairwise import PairwiseMRF

ROUNDING = 1e-12  # a joint probability above the product by this share of it still counts as the product


def pair_to_dpp(p1: float, p2: float, p12: float) -> DPP:
    """The DPP of two items with two marginals and a joint probability p12 <= p1 p2, equation (13).

    Examples
    --------
    >>> dpp = pair_to_dpp(0.5, 0.5, 0.1)
    >>> dpp.pair_probs().round(3)
    array([[0.5, 0.1],
           [0.1, 0.5]])
    >>> dpp.quality.round(3), dpp.similarity[0, 1].round(3)  # q and S
    (array([2., 2.]), np.float64(0.968))
    """
    atoms = check_pair(p1, p2, p12, "a DPP has only negative correlations; no kernel gives this")
    if atoms[0] <= 0.0:
        raise ValueError(
            f"p1 + p2 - p12 must be below 1 for q to be finite, found {p1 + p2 - p12:.6g}: one of the items is always "
            "chosen. DPP.from_marginal([[p1, k], [k, p2]]) with k = sqrt(p1 p2 - p12) needs no q."
        )
    w, w12 = log_ratios(atoms)
    S = float(np.sqrt(-np.expm1(min(w12, 0.0))))
    return DPP.from_quality(np.exp(w / 2), [[1.0, S], [S, 1.0]])


def pair_to_mrf(p1: float, p2: float, p12: float, *, repulsive: bool = True) -> PairwiseMRF:
    """The MRF of two items with two marginals and a joint probability; all four subsets must be possible.

    Examples
    --------
    >>> mrf = pair_to_mrf(0.5, 0.5, 0.1)
    >>> mrf.w.round(3), mrf.W[0, 1].round(3)  # w and w12
    (array([1.386, 1.386]), np.float64(-2.773))
    """
    reason = "a repulsive MRF has only negative ones; pass repulsive=False for w12 > 0"
    atoms = check_pair(p1, p2, p12, reason if repulsive else None)
    if atoms.min() <= 0.0:
        name = ("{}", "{1}", "{2}", "{1, 2}")[int(atoms.argmin())]
        raise ValueError(
            f"Every subset must be possible for the weights to be finite, but P({name}) is {atoms.min():.3g}. "
            "A DPP may exclude a subset: see pair_to_dpp, or DPP.from_marginal where one of the items is always chosen."
        )
    w, w12 = log_ratios(atoms)
    w12 = min(w12, 0.0) if repulsive else w12
    return PairwiseMRF(w, [[0.0, w12], [w12, 0.0]], repulsive=repulsive)


def log_ratios(atoms: FloatArray) -> tuple[FloatArray, float]:
    """Weights w and w12 of the distribution with P({}), P({1}), P({2}) and P({1, 2})."""
    with np.errstate(divide="ignore"):
        neither, one, two, both = np.log(atoms)
    w12 = both + neither - one - two if min(one, two) > -np.inf else 0.0  # any, where an item is never chosen
    return np.array([one, two]) - neither, float(w12)


def check_pair(p1: float, p2: float, p12: float, reason: str | None) -> FloatArray:
    """P of {}, {1}, {2} and {1, 2}, none negative; with a `reason`, p12 <= p1 p2 too, equation (13)."""
    p1, p2, p12 = (check_between(p, name, 0.0, 1.0) for p, name in ((p1, "p1"), (p2, "p2"), (p12, "p12")))
    low, high = max(p1 + p2 - 1.0, 0.0), min(p1, p2)
    if not low - ROUNDING <= p12 <= high * (1 + ROUNDING):
        raise ValueError(
            f"p12 must lie between max(p1 + p2 - 1, 0) = {low:.6g} and min(p1, p2) = {high:.6g}, found {p12:.6g}: "
            "no distribution of two items has these probabilities."
        )
    if reason is not None and p12 > p1 * p2 * (1 + ROUNDING):  # relative: of rare items the product is tiny
        raise ValueError(
            f"p12 must be at most p1 p2 = {p1 * p2:.6g}, equation (13), found {p12:.6g}. The correlation is positive: "
            f"{reason}."
        )
    # (1 - p1) - (p2 - p12) rather than 1 - p1 - p2 + p12: no rounding of a sum above 1
    return np.maximum([(1.0 - p1) - (p2 - p12), p1 - p12, p2 - p12, p12], 0.0)
