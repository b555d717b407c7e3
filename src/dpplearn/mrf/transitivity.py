"""The triangle inequality (12), and how far a distribution is from what it allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import FloatArray, check_square
from dpplearn.dpp import DPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.mrf.enumeration import moments, probabilities_of


@dataclass(frozen=True)
class TriangleCheck:
    """Inequality (12) over all triples of items.

    With the angle a_ij = arcsin sqrt(1 - S_ij^2) between the lines of two items, (12) says
    sin a_ij + sin a_jk >= sin a_ik. The angles themselves obey a_ij + a_jk >= a_ik, which is stronger: for three items
    it is also enough, that is, some choice of signs then makes S positive semidefinite.

    `slack` is the smallest left side minus right side of (12), negative where it is violated, inf without triples;
    `triple` says where, j being the item similar to both others. `angle_violation` and `mean_angle_violation` are the
    largest and the mean over triples of how much a_ij + a_jk >= a_ik lacks, in radians, 0 where it holds.
    """

    slack: float
    triple: tuple[int, int, int] | None
    angle_violation: float
    mean_angle_violation: float

    @property
    def violation(self) -> float:
        """How much (12) lacks where it lacks most, 0 where it holds."""
        return max(-self.slack, 0.0)

    @property
    def holds(self) -> bool:
        """Whether no triple violates (12) by more than rounding."""
        return self.slack >= -1e-7  # the sine of two like items is the root of a rounding error


def triangle_inequality(S: ArrayLike | DPP | LowRankDPP) -> TriangleCheck:
    """Check sqrt(1 - S_ij^2) + sqrt(1 - S_jk^2) >= sqrt(1 - S_ik^2), equation (12), for all triples.

    It holds for every positive semidefinite kernel; S need not be one: a DPP, similarities (n, n), or any symmetric
    matrix with a positive diagonal, whose S_ij is then S_ij / sqrt(S_ii S_jj).

    Examples
    --------
    >>> check = triangle_inequality([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])  # alike, alike, not alike
    >>> check.holds, check.triple, round(check.violation, 3)
    (False, (0, 1, 2), 0.128)
    """
    A = check_square(S.L if isinstance(S, DPP | LowRankDPP) else S, "S")
    d = A.diagonal()
    if d.min() <= 0.0:
        raise ValueError(f"S must have a positive diagonal, but S[{d.argmin()}, {d.argmin()}] is {d.min():.3g}.")
    cosines = np.abs(A / np.sqrt(d)[:, None] / np.sqrt(d))
    if cosines.max() > 1.0 + 1e-8:
        i, j = np.unravel_index(int(cosines.argmax()), cosines.shape)
        raise ValueError(f"S must have |S_ij| <= sqrt(S_ii S_jj), but S[{i}, {j}] is {A[i, j]:.3g}: no two vectors do.")
    cosines = np.minimum(cosines, 1.0)
    if len(cosines) < 3:
        return TriangleCheck(np.inf, None, 0.0, 0.0)
    slack, triple, _ = shortfall(np.sqrt((1 - cosines) * (1 + cosines)))
    angle_slack, _, mean_angle = shortfall(np.arccos(cosines))
    return TriangleCheck(slack, triple, max(-angle_slack, 0.0), mean_angle)


def shortfall(side: FloatArray) -> tuple[float, tuple[int, int, int], float]:
    """The least side_ij + side_jk - side_ik, its triple (i, j, k), and the mean over triples of what lacks to 0."""
    n = len(side)
    slack, triple, total = np.inf, (0, 1, 2), 0.0
    for j in range(n):  # n^2 numbers at a time
        others = np.delete(np.arange(n), j)
        i, k = (others[index] for index in np.triu_indices(n - 1, 1))
        left = side[i, j] + side[j, k] - side[i, k]
        at = int(left.argmin())
        if left[at] < slack:
            slack, triple = float(left[at]), (int(i[at]), j, int(k[at]))
        total += float(np.maximum(-left, 0.0).sum())
    # at most one of the three inequalities of a triple is violated: two of them sum to twice a side
    return slack, triple, total / (n * (n - 1) * (n - 2) / 6)


def implied_similarity(target: Any) -> FloatArray:
    """|S_ij| that a DPP would need in order to agree with a distribution on every pair of items; see `transitivity`."""
    joint = moments(probabilities_of(target))
    apart = np.outer(joint.diagonal(), joint.diagonal())
    ratio = np.divide(joint, apart, out=np.ones_like(apart), where=apart > 0.0)  # 1 - S^2
    S = np.sqrt(np.clip(1.0 - ratio, 0.0, 1.0))
    np.fill_diagonal(S, 1.0)
    return np.asarray(S)


def transitivity(target: Any) -> TriangleCheck:
    """Inequality (12) for the similarities that a DPP would need in order to agree with a distribution on all pairs.

    They are K_ij^2 = P_i P_j - P_ij (equation 3), over P_i P_j; where a pair is positively correlated, 0. For a DPP
    (12) holds; a violation says that no DPP agrees on all pairs. For the factors of an MRF, which are exp(w_ij) where
    a DPP has 1 - S_ij^2 (Figure 3), ask `triangle_inequality(np.sqrt(-np.expm1(W)) + np.eye(n))`.

    Examples
    --------
    >>> from dpplearn.mrf import PairwiseMRF
    >>> W = [[0.0, -3.0, 0.0], [-3.0, 0.0, -3.0], [0.0, -3.0, 0.0]]  # item 1 repels 0 and 2, which ignore each other
    >>> check = transitivity(PairwiseMRF([0.0, 0.0, 0.0], W))
    >>> check.triple, round(check.violation, 3)
    ((0, 1, 2), 0.313)
    """
    return triangle_inequality(implied_similarity(target))
