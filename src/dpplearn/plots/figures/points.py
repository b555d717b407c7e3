"""Figure 1: points in the plane drawn from a DPP, and the same number drawn independently."""

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
    """Draw `count` of many random points of the unit square by a k-DPP, and the same number independently."""
    rng = np.random.default_rng(seed)
    points = rng.random((candidates, 2))  # near points are similar, so the k-DPP rarely draws both
    kdpp = KDPP(DPP(rbf_similarity(points, length_scale=0.1) + 1e-6 * np.eye(candidates)), count)
    apart = kdpp.sample(1, rng=rng)[0]
    independent = rng.choice(candidates, size=count, replace=False)
    return points[apart], points[independent]


def nearest_distance(points: FloatArray) -> float:
    """The mean distance from a point to the nearest other point."""
    return float(KDTree(points).query(points, 2)[0][:, 1].mean())  # column 0 is the point itself


@style()
def draw() -> Figure:
    figure, axes = new_figure(TWO_COLUMNS, 3.75, columns=2)
    for ax, points, title, colour in zip(axes, draw_points(), ("DPP", "Independent"), (BLUE, VERMILION), strict=True):
        ax.scatter(*points.T, s=15, color=colour, linewidths=0)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xticks=[], yticks=[], aspect="equal", title=title)
        ax.set_xlabel(f"nearest neighbour {nearest_distance(points):.3f} away on average")
        ax.spines[:].set_visible(True)
    return figure
