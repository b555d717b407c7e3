"""Three items: the ternary factors of Figure 3, and the surfaces of Figure 4 on which they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpplearn._checks import FloatArray, IntArray, check_between, check_choice, check_int, check_vector, read_only
from dpplearn._notebook import short_repr

STATES = ("000", "001", "010", "100", "110", "101", "011", "111")  # y1 y2 y3, in the order of Figure 3
PAIRS = ((0, 1), (0, 2), (1, 2))  # of 110, 101 and 011


@dataclass(frozen=True, eq=False)
class TernaryFactors:
    """Figure 3: the factor of three items for each state, in an MRF and in a DPP; 1 where at most one item is chosen.

    `str()` of it is the table.
    """

    __repr__ = short_repr

    states: tuple[str, ...]
    mrf: FloatArray
    dpp: FloatArray

    def __str__(self) -> str:
        lines = ["| y1 y2 y3 | MRF | DPP |", "|---|--:|--:|"]
        rows = zip(self.states, self.mrf, self.dpp, strict=True)
        return "\n".join([*lines, *(f"| {state} | {mrf:.4f} | {dpp:.4f} |" for state, mrf, dpp in rows)])


def ternary_factors(w: Sequence[float] | FloatArray, S: Sequence[float] | FloatArray) -> TernaryFactors:
    """The factor psi_123 of Figure 3, for an MRF and for a DPP.

    With the node potentials exp(w_i y_i) and q_i^(2 y_i) set apart, what is left of (11) is exp(sum of w_ij y_i y_j),
    and of (9) det(S_Y). The pair weights w = (w12, w13, w23) must not be positive; the similarities S = (S12, S13, S23)
    must make a positive semidefinite matrix, with ones on its diagonal.

    Examples
    --------
    >>> print(ternary_factors(w=(-1.0, -1.0, 0.0), S=(0.8, 0.8, 0.3)))
    | y1 y2 y3 | MRF | DPP |
    |---|--:|--:|
    | 000 | 1.0000 | 1.0000 |
    | 001 | 1.0000 | 1.0000 |
    | 010 | 1.0000 | 1.0000 |
    | 100 | 1.0000 | 1.0000 |
    | 110 | 0.3679 | 0.3600 |
    | 101 | 0.3679 | 0.3600 |
    | 011 | 1.0000 | 0.9100 |
    | 111 | 0.1353 | 0.0140 |
    """
    weights, similarities = check_vector(w, "w", 3), check_vector(S, "S", 3)
    if weights.max() > 0.0:
        i, j = PAIRS[int(weights.argmax())]
        raise ValueError(
            f"w must hold repulsions, none positive, but w{i + 1}{j + 1} is {weights.max():.3g}. "
            "Pass np.minimum(w, 0) to drop attractions."
        )
    if np.abs(similarities).max() > 1.0 or (last := determinant(similarities)) < -1e-12:
        raise ValueError(
            f"S must be similarities of three vectors, but no three unit vectors have the products S12, S13, S23 = "
            f"{similarities.tolist()}: 1 + 2 S12 S13 S23 - S12^2 - S13^2 - S23^2 is "
            f"{determinant(similarities):.3g}. The third must lie between S12 S13 - r and S12 S13 + r with "
            "r = sqrt((1 - S12^2) (1 - S13^2))."
        )
    mrf = np.concatenate([np.ones(4), np.exp(weights), [np.exp(weights.sum())]])
    dpp = np.concatenate([np.ones(4), (1 - similarities) * (1 + similarities), [max(last, 0.0)]])
    read_only(mrf, dpp)
    return TernaryFactors(STATES, mrf, dpp)


@dataclass(frozen=True, eq=False)
class FactorSurface:
    """All values of the entries 110, 101 and 011 that a model can have for one value `entry` of the entry 111.

    `points` (m, 3) are entries 110, 101 and 011; `parameters` (m, 3) what gives them: w12, w13, w23 of the MRF, or S12,
    S13, S23 of the DPP. `triangles` (t, 3) are the rows of `points` that make up the surface.
    """

    entry: float
    points: FloatArray
    parameters: FloatArray
    triangles: IntArray

    __repr__ = short_repr


def factor_surface(model: str, entry: float, *, sign: int = 1, resolution: int = 40) -> FactorSurface:
    """The surface of Figure 4: realizable entries 110, 101, 011 where the entry 111 is given.

    The MRF's is the part of xyz = entry in the unit cube. The DPP's has two sheets. With sign=1, where
    S12 S13 S23 >= 0, it is open: its rim is a triangle with the corners (1, 1, entry), (1, entry, 1), (entry, 1, 1).
    With sign=-1, where S12 S13 S23 <= 0, it is what closes this hole.

    Parameters
    ----------
    model : {"mrf", "dpp"}
    entry : float
        Between 0 and 1, neither included: at 0 and 1 the MRF has no surface.
    sign : {1, -1}
        Sheet of the DPP.
    resolution : int
        Number of steps along each side of the triangle.

    Examples
    --------
    >>> surface = factor_surface("mrf", 0.1)
    >>> bool(np.allclose(surface.points.prod(axis=1), 0.1))
    True
    >>> surface.points.max().round(3), factor_surface("dpp", 0.1).points.min().round(3)
    (np.float64(1.0), np.float64(0.1))
    """
    check_choice(model, "model", ("mrf", "dpp"))
    entry = check_between(entry, "entry", 0.0, 1.0)
    if not 0.0 < entry < 1.0:
        raise ValueError(f"entry must lie between 0 and 1, neither included, found {entry:g}.")
    if sign not in (1, -1) or (model == "mrf" and sign != 1):
        raise ValueError(f"sign must be 1, or -1 for the second sheet of the DPP, found {sign!r} for the {model}.")
    u, triangles = barycentric(check_int(resolution, "resolution", low=1))
    if model == "mrf":
        parameters = np.log(entry) * u  # w12 + w13 + w23 = log(entry): flat in the weights
        points = np.exp(parameters)
    else:
        direction = np.sqrt(u)  # of length 1
        direction[:, 2] *= sign
        # r with det = 1 - r^2 + 2 r^3 v1 v2 v3 = entry along v: a cubic in 1 / r, of which this is the largest root
        angle = np.arccos(-direction.prod(axis=1) * np.sqrt(27 * (1 - entry))) / 3
        parameters = (np.sqrt(3 * (1 - entry)) / 2 / np.cos(angle))[:, None] * direction
        points = (1 - parameters) * (1 + parameters)
    read_only(points, parameters, triangles)
    return FactorSurface(entry, points, parameters, triangles)


def barycentric(steps: int) -> tuple[FloatArray, IntArray]:
    """Points (u1, u2, u3) of a regular triangular grid, u_i >= 0 with sum 1, and its triangles."""
    i, j = (index.ravel() for index in np.indices((steps + 1, steps + 1)))
    inside = i + j <= steps
    i, j = i[inside], j[inside]
    number = np.full((steps + 2, steps + 2), -1)
    number[i, j] = np.arange(i.size)
    up = np.stack([number[i, j], number[i + 1, j], number[i, j + 1]], axis=1)
    down = np.stack([number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]], axis=1)
    triangles = np.concatenate([up, down])
    return np.stack([i, j, steps - i - j], axis=1) / steps, triangles[(triangles >= 0).all(axis=1)]


def determinant(S: FloatArray) -> float:
    """det of the 3 x 3 similarity matrix: 1 + 2 S12 S13 S23 - S12^2 - S13^2 - S23^2."""
    return float(1 + 2 * S.prod() - (S**2).sum())
