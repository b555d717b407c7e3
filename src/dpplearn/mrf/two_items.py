"""Two items: the DPP and the repulsive MRF are the same distributions, equation (13).

All goes through the weights of the MRF, w_i = log P({i}) - log P({}) = 2 log q_i and w12 = log P({1, 2}) + log P({})
- log P({1}) - log P({2}) = log(1 - S^2), -inf where a subset is impossible. w12 <= 0 exactly where p12 <= p1 p2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import FloatArray, check_between, check_vector
from dpplearn.dpp import DPP
from dpplearn.mrf.pairwise import PairwiseMRF

LARGEST = np.log(np.finfo(np.float64).max)
ROUNDING = 1e-12  # a joint probability above the product by this share of it is still taken for the product


class PairProbs(NamedTuple):
    """P(1 in Y), P(2 in Y) and P(1, 2 in Y)."""

    p1: float
    p2: float
    p12: float


class QualitySimilarity(NamedTuple):
    """The DPP of two items: qualities q (2,) and similarity S >= 0; -S gives the same DPP."""

    q: FloatArray
    S: float

    def dpp(self) -> DPP:
        """The distribution itself."""
        return DPP.from_quality(self.q, [[1.0, self.S], [self.S, 1.0]])


class PairWeights(NamedTuple):
    """The MRF of two items: weights w (2,) and the weight w12 of the pair."""

    w: FloatArray
    w12: float

    def mrf(self) -> PairwiseMRF:
        """The distribution itself."""
        return PairwiseMRF(self.w, [[0.0, self.w12], [self.w12, 0.0]], repulsive=self.w12 <= 0.0)


def pair_to_dpp(p1: float, p2: float, p12: float) -> QualitySimilarity:
    """Qualities and similarity of the DPP with two marginals and a joint probability p12 <= p1 p2, equation (13).

    Examples
    --------
    >>> pair_to_dpp(0.5, 0.5, 0.1).dpp().pair_probs().round(3)
    array([[0.5, 0.1],
           [0.1, 0.5]])
    """
    atoms = check_pair(p1, p2, p12, "a DPP has only negative correlations; no kernel gives this")
    if atoms[0] <= 0.0:
        raise ValueError(
            f"p1 + p2 - p12 must be below 1 for q to be finite, found {p1 + p2 - p12:.6g}: one of the items is always "
            "chosen. DPP.from_marginal([[p1, k], [k, p2]]) with k = sqrt(p1 p2 - p12) needs no q."
        )
    return as_dpp(log_ratios(atoms))


def pair_to_mrf(p1: float, p2: float, p12: float, *, repulsive: bool = True) -> PairWeights:
    """Weights of the MRF with two marginals and a joint probability; all four subsets must be possible.

    Examples
    --------
    >>> w, w12 = pair_to_mrf(0.5, 0.5, 0.1)
    >>> w.round(3), round(w12, 3)
    (array([1.386, 1.386]), -2.773)
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
    return PairWeights(w, min(w12, 0.0) if repulsive else w12)


def dpp_to_pair(q: ArrayLike, S: float) -> PairProbs:
    """Two marginals and the joint probability of the DPP with qualities q (2,) and similarity S.

    Examples
    --------
    >>> [round(p, 3) for p in dpp_to_pair([2.0, 2.0], 0.5)]
    [0.762, 0.762, 0.571]
    """
    return as_pair(log_weights(q, S))


def mrf_to_pair(w: ArrayLike, w12: float, *, repulsive: bool = True) -> PairProbs:
    """Two marginals and the joint probability of the MRF with weights w (2,) and w12.

    Examples
    --------
    >>> [round(p, 3) for p in mrf_to_pair([0.0, 0.0], -np.log(2))]
    [0.429, 0.429, 0.143]
    """
    w12 = check_between(w12, "w12", -np.inf, np.inf)
    return as_pair(PairWeights(PairwiseMRF(w, [[0.0, w12], [w12, 0.0]], repulsive=repulsive).w, w12))


def dpp_to_mrf(q: ArrayLike, S: float) -> PairWeights:
    """Weights of the MRF that is the DPP with qualities q (2,) and similarity S: w_i = 2 log q_i, w12 = log(1 - S^2).

    Examples
    --------
    >>> w, w12 = dpp_to_mrf([1.0, 2.0], 0.5)
    >>> w.round(3), round(w12, 3)
    (array([0.   , 1.386]), -0.288)
    """
    found = log_weights(q, S)
    if not np.isfinite([*found.w, found.w12]).all():
        raise ValueError(
            f"q must be positive and |S| below 1 for the weights to be finite, found q = {np.asarray(q).tolist()} and "
            f"S = {S:g}. The DPP excludes a subset, which an MRF does only in the limit w -> -inf."
        )
    return found


def mrf_to_dpp(w: ArrayLike, w12: float) -> QualitySimilarity:
    """The DPP that is the MRF with weights w (2,) and w12 <= 0: q_i = exp(w_i / 2), S = sqrt(1 - exp(w12)).

    Examples
    --------
    >>> q, S = mrf_to_dpp([0.0, 1.386], -0.288)
    >>> q.round(3), round(S, 3)
    (array([1., 2.]), 0.5)
    """
    unary, w12 = check_vector(w, "w", 2), check_between(w12, "w12", -np.inf, np.inf)
    if w12 > 0.0:
        raise ValueError(
            f"w12 must not be positive, found {w12:.3g}: the items attract, and a DPP has only negative correlations."
        )
    if unary.max() > LARGEST:
        raise ValueError(f"w must be small enough for exp(w) to be a float, found {unary.tolist()}.")
    return as_dpp(PairWeights(unary, w12))


def log_weights(q: ArrayLike, S: float) -> PairWeights:
    """Weights of a DPP."""
    quality, S = check_vector(q, "q", 2, low=0.0), check_between(S, "S", -1.0, 1.0)
    with np.errstate(divide="ignore"):
        return PairWeights(2 * np.log(quality), float(np.log1p(-S) + np.log1p(S)))


def log_ratios(atoms: FloatArray) -> PairWeights:
    """Weights of the distribution with P({}), P({1}), P({2}) and P({1, 2})."""
    with np.errstate(divide="ignore"):
        neither, one, two, both = np.log(atoms)
    w12 = both + neither - one - two if min(one, two) > -np.inf else 0.0  # any, where an item is never chosen
    return PairWeights(np.array([one, two]) - neither, float(w12))


def as_dpp(weights: PairWeights) -> QualitySimilarity:
    return QualitySimilarity(np.exp(weights.w / 2), float(np.sqrt(-np.expm1(min(weights.w12, 0.0)))))


def as_pair(weights: PairWeights) -> PairProbs:
    scores = np.array([0.0, *weights.w, weights.w.sum() + weights.w12])
    neither, one, two, both = np.exp(scores - scores.max())
    total = neither + one + two + both
    return PairProbs(float((one + both) / total), float((two + both) / total), float(both / total))


def check_pair(p1: float, p2: float, p12: float, reason: str | None) -> FloatArray:
    """P of {}, {1}, {2} and {1, 2}, none negative; with a `reason`, p12 <= p1 p2 too, equation (13)."""
    p1, p2, p12 = (check_between(p, name, 0.0, 1.0) for p, name in ((p1, "p1"), (p2, "p2"), (p12, "p12")))
    low, high = max(p1 + p2 - 1.0, 0.0), min(p1, p2)
    if not low - ROUNDING <= p12 <= high * (1 + ROUNDING):
        raise ValueError(
            f"p12 must lie between max(p1 + p2 - 1, 0) = {low:.6g} and min(p1, p2) = {high:.6g}, found {p12:.6g}: "
            "no distribution of two items has these probabilities."
        )
    if reason is not None and p12 > p1 * p2 * (1 + ROUNDING):  # of rare items too, whose product is below any bound
        raise ValueError(
            f"p12 must be at most p1 p2 = {p1 * p2:.6g}, equation (13), found {p12:.6g}. The correlation is positive: "
            f"{reason}."
        )
    # (1 - p1) - (p2 - p12) rather than 1 - p1 - p2 + p12: no rounding of a sum above 1
    return np.maximum([(1.0 - p1) - (p2 - p12), p1 - p12, p2 - p12, p12], 0.0)
