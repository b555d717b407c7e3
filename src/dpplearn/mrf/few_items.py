"""MRFs and DPPs of two and three items: equation (13), the factors of Figure 3, and the surfaces of Figure 4.

On two items, DPPs and repulsive MRFs are the same distributions, those with p12 <= p1 p2, equation (13). The weights of
the MRF are w_i = log P({i}) - log P({}) and w12 = log P({1, 2}) + log P({}) - log P({1}) - log P({2}); the DPP has
qualities q_i = exp(w_i / 2) and similarity S = sqrt(1 - exp(w12)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray, check_between, check_choice, check_int, check_vector, read_only
from dpplearn._notebook import short_repr
from dpplearn.dpp import DPP
from dpplearn.mrf.pairwise import PairwiseMRF

ROUNDING = 1e-12  # relative: a joint probability that exceeds the product by less counts as the product
STATES = ("000", "001", "010", "100", "110", "101", "011", "111")  # y1 y2 y3, in the order of Figure 3


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
    atoms = check_pair(p1, p2, p12)
    if atoms[0] <= 0.0:
        raise ValueError("One item is always chosen, so q would be infinite. Use DPP.from_marginal(K).")
    w, w12 = log_ratios(atoms)
    S = float(np.sqrt(-np.expm1(w12)))
    return DPP.from_quality(np.exp(w / 2), [[1.0, S], [S, 1.0]])


def pair_to_mrf(p1: float, p2: float, p12: float) -> PairwiseMRF:
    """The repulsive MRF of two items with these probabilities, equation (13); all four subsets must be possible.

    Examples
    --------
    >>> mrf = pair_to_mrf(0.5, 0.5, 0.1)
    >>> mrf.w.round(3), mrf.W[0, 1].round(3)  # w and w12
    (array([1.386, 1.386]), np.float64(-2.773))
    """
    atoms = check_pair(p1, p2, p12)
    if atoms.min() <= 0.0:
        name = ("{}", "{1}", "{2}", "{1, 2}")[int(atoms.argmin())]
        raise ValueError(f"P({name}) is 0, so a weight would be infinite. Every subset must be possible.")
    w, w12 = log_ratios(atoms)
    return PairwiseMRF(w, [[0.0, w12], [w12, 0.0]])


def log_ratios(atoms: FloatArray) -> tuple[FloatArray, float]:
    """Weights w and w12 from P({}), P({1}), P({2}) and P({1, 2})."""
    with np.errstate(divide="ignore"):
        neither, one, two, both = np.log(atoms)
    w12 = both + neither - one - two if min(one, two) > -np.inf else 0.0  # any, if an item is never chosen
    return np.array([one, two]) - neither, min(float(w12), 0.0)  # positive only by rounding


def check_pair(p1: float, p2: float, p12: float) -> FloatArray:
    """P of {}, {1}, {2} and {1, 2}; an error if these are not probabilities that obey equation (13)."""
    p1, p2, p12 = (check_between(p, name, 0.0, 1.0) for p, name in ((p1, "p1"), (p2, "p2"), (p12, "p12")))
    low = max(p1 + p2 - 1.0, 0.0)
    if not low - ROUNDING <= p12 <= p1 * p2 * (1 + ROUNDING):  # relative, because the product may be tiny
        ends = f"max(p1 + p2 - 1, 0) = {low:.6g} and p1 p2 = {p1 * p2:.6g}"
        raise ValueError(f"p12 must be between {ends}, equation (13), found {p12:.6g}.")
    # (1 - p1) - (p2 - p12) and not 1 - p1 - p2 + p12, which rounds a sum above 1
    return np.maximum([(1.0 - p1) - (p2 - p12), p1 - p12, p2 - p12, p12], 0.0)


class TernaryFactors(NamedTuple):
    """Figure 3: the factor of three items in each state, for an MRF and a DPP."""

    states: tuple[str, ...]
    mrf: FloatArray
    dpp: FloatArray


def ternary_factors(w: Sequence[float] | FloatArray, S: Sequence[float] | FloatArray) -> TernaryFactors:
    """The factor psi_123 of Figure 3, for an MRF and for a DPP.

    Without the node potentials exp(w_i y_i) and q_i^(2 y_i), equation (11) becomes exp(sum of w_ij y_i y_j), and (9)
    becomes det(S_Y). The pair weights w = (w12, w13, w23) must not be positive, and the similarities S = (S12, S13,
    S23), with ones on the diagonal, must make a positive semidefinite matrix.

    Examples
    --------
    >>> table = ternary_factors(w=(-1.0, -1.0, 0.0), S=(0.8, 0.8, 0.3))
    >>> table.mrf[4:].round(3), table.dpp[4:].round(3)  # of the states 110, 101, 011 and 111; the others are 1
    (array([0.368, 0.368, 1.   , 0.135]), array([0.36 , 0.36 , 0.91 , 0.014]))
    """
    weights, similarities = check_vector(w, "w", 3), check_vector(S, "S", 3)
    if weights.max() > 0.0:
        raise ValueError(f"w must have no positive weight, found {weights.tolist()}.")
    last = float(1 + 2 * similarities.prod() - (similarities**2).sum())  # det of the 3 x 3 similarity matrix
    if np.abs(similarities).max() > 1.0 or last < -1e-12:
        raise ValueError(f"S must be similarities; no three unit vectors have the products {similarities.tolist()}.")
    mrf = np.concatenate([np.ones(4), np.exp(weights), [np.exp(weights.sum())]])
    dpp = np.concatenate([np.ones(4), (1 - similarities) * (1 + similarities), [max(last, 0.0)]])
    read_only(mrf, dpp)
    return TernaryFactors(STATES, mrf, dpp)


@dataclass(frozen=True, eq=False)
class FactorSurface:
    """All values of the entries 110, 101 and 011 that a model can have if the entry 111 is `entry`.

    `points` (m, 3) are entries 110, 101 and 011; `parameters` (m, 3) are the w12, w13, w23 of the MRF or the S12, S13,
    S23 of the DPP that give them. `triangles` (t, 3) are rows of `points`, which together make up the surface.
    """

    __repr__ = short_repr

    entry: float
    points: FloatArray
    parameters: FloatArray
    triangles: IntArray


def factor_surface(model: str, entry: float, *, sign: int = 1, resolution: int = 40) -> FactorSurface:
    """The surface of Figure 4: the possible entries 110, 101, 011 for a given entry 111.

    For the MRF it is the part of xyz = entry in the unit cube. For the DPP it has two sheets. That with sign=1, for
    S12 S13 S23 >= 0, has a triangular hole with the corners (1, 1, entry), (1, entry, 1) and (entry, 1, 1). The one
    with sign=-1, for S12 S13 S23 <= 0, closes the hole.

    Parameters
    ----------
    model : {"mrf", "dpp"}
    entry : float
        Above 0 and below 1, where the MRF has no surface.
    sign : {1, -1}
        Sheet of the DPP.
    resolution : int
        Number of steps along a side of the triangle.

    Examples
    --------
    >>> surface = factor_surface("mrf", 0.1)
    >>> bool(np.allclose(surface.points.prod(axis=1), 0.1))
    True
    """
    check_choice(model, "model", ("mrf", "dpp"))
    entry = check_between(entry, "entry", 0.0, 1.0)
    if not 0.0 < entry < 1.0:
        raise ValueError(f"entry must be above 0 and below 1, found {entry:g}.")
    if sign not in ((1,) if model == "mrf" else (1, -1)):
        raise ValueError(f"sign must be 1, or -1 for the second sheet of the DPP, found {sign!r} for the {model}.")
    u, triangles = barycentric(check_int(resolution, "resolution", low=1, high=2000))
    if model == "mrf":
        parameters = np.log(entry) * u  # w12 + w13 + w23 = log(entry) is a plane
        points = np.exp(parameters)
    else:
        direction = np.sqrt(u)  # of length 1
        direction[:, 2] *= sign
        # det = 1 - r^2 + 2 r^3 v1 v2 v3 = entry along v is a cubic equation in 1 / r; this is its largest root
        angle = np.arccos(-direction.prod(axis=1) * np.sqrt(27 * (1 - entry))) / 3
        parameters = (np.sqrt(3 * (1 - entry)) / 2 / np.cos(angle))[:, None] * direction
        points = (1 - parameters) * (1 + parameters)
    read_only(points, parameters, triangles)
    return FactorSurface(entry, points, parameters, triangles)


def barycentric(steps: int) -> tuple[FloatArray, IntArray]:
    """The points (u1, u2, u3) of a regular triangular grid, with u_i >= 0 and sum 1, and its triangles."""
    i, j = (index.ravel() for index in np.indices((steps + 1, steps + 1)))
    inside = i + j <= steps
    i, j = i[inside], j[inside]
    number = np.full((steps + 2, steps + 2), -1)
    number[i, j] = np.arange(i.size)
    up = np.stack([number[i, j], number[i + 1, j], number[i, j + 1]], axis=1)
    down = np.stack([number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]], axis=1)
    triangles = np.concatenate([up, down])
    return np.stack([i, j, steps - i - j], axis=1) / steps, triangles[(triangles >= 0).all(axis=1)]
