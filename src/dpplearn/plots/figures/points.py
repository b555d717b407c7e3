"""Figure 1: points in the plane from a DPP, and as many drawn independently."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial import KDTree

from dpplearn._checks import FloatArray
from dpplearn.dpp import DPP
from dpplearn.kdpp import KDPP
from dpplearn.kernels import rbf_similarity
from dpplearn.plots.style import BLUE, TWO_COLUMNS, VERMILION, new_figure, style


def draw_points(candidates: int = 2000, count: int = 100, seed: int = 2) -> tuple[FloatArray, FloatArray]:
    """`count` of many random points of the unit square from a k-DPP, and as many drawn independently."""
    rng = np.random.default_rng(seed)
    points = rng.random((candidates, 2))
    # Similar where near: the closer two points are, the less often both are drawn.
    kdpp = KDPP(DPP(rbf_similarity(points, length_scale=0.1) + 1e-6 * np.eye(candidates)), count)
    apart = kdpp.sample(1, rng=rng)[0]
    independent = rng.choice(candidates, size=count, replace=False)
    return points[apart], points[independent]


def nearest_distance(points: FloatArray) -> float:
    """Mean distance from a point to the nearest other."""
    return float(KDTree(points).query(points, 2)[0][:, 1].mean())  # the nearest of all is the point itself


@style()
def draw() -> Figure:
    """A DPP's points at the left, as many independent ones at the right."""
    figure, axes = new_figure(TWO_COLUMNS, 3.75, columns=2)
    for ax, points, title, colour in zip(axes, draw_points(), ("DPP", "Independent"), (BLUE, VERMILION), strict=True):
        ax.scatter(*points.T, s=15, color=colour, linewidths=0)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xticks=[], yticks=[], aspect="equal", title=title)
        ax.set_xlabel(f"nearest neighbour {nearest_distance(points):.3f} away on average")
        ax.spines[:].set_visible(True)
    return figure
