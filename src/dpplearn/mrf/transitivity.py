"""Checks the triangle inequality (12) of similarities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import check_square
from dpplearn.dpp import DPP
from dpplearn.lowrank import LowRankDPP


@dataclass(frozen=True)
class TriangleCheck:
    """Inequality (12) over all triples of items.

    `slack` is the smallest difference of the two sides of (12): negative if it is violated, and inf without triples.
    `triple` has the items, with the one that is similar to both others in the middle.
    """

    slack: float
    triple: tuple[int, int, int] | None

    @property
    def violation(self) -> float:
        """By how much (12) is violated, 0 if it holds."""
        return max(-self.slack, 0.0)

    @property
    def holds(self) -> bool:
        """Whether no triple violates (12) by more than rounding."""
        return self.slack >= -1e-7  # the sine of two equal items is the root of a rounding error


def triangle_inequality(S: ArrayLike | DPP | LowRankDPP) -> TriangleCheck:
    """Check sqrt(1 - S_ij^2) + sqrt(1 - S_jk^2) >= sqrt(1 - S_ik^2), equation (12), for all triples.

    It holds for every positive semidefinite kernel. S may be a DPP, similarities (n, n), or any symmetric matrix with a
    positive diagonal, of which S_ij / sqrt(S_ii S_jj) are taken. A DPP that agrees with a distribution on all pairs has
    S_ij^2 = 1 - P_ij / (P_i P_j), by equation (3). If these violate (12), there is no such DPP.

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
        raise ValueError(f"S must have |S_ij| <= sqrt(S_ii S_jj), but S[{i}, {j}] is {A[i, j]:.3g}.")
    cosines = np.minimum(cosines, 1.0)
    sines, n = np.sqrt((1 - cosines) * (1 + cosines)), len(cosines)
    slack, triple = np.inf, None
    for middle in range(n if n > 2 else 0):  # with n^2 numbers at a time
        others = np.delete(np.arange(n), middle)
        first, last = (others[index] for index in np.triu_indices(n - 1, 1))
        left = sines[first, middle] + sines[middle, last] - sines[first, last]
        at = int(left.argmin())
        if left[at] < slack:
            slack, triple = float(left[at]), (int(first[at]), middle, int(last[at]))
    return TriangleCheck(slack, triple)
