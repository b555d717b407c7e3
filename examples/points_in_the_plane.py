"""Points in the plane, Figure 1 of the paper: points drawn from a DPP keep apart, independent ones clump.

Of 2,000 random points in the unit square 100 are drawn, once by a k-DPP whose items are similar where they are near,
once independently. The DPP's points are spread out, with no grid and no minimum distance: it is still a random set.
The number that shows it is the mean distance from a point to the nearest other, over ten draws of each kind.
"""

import numpy as np

from dpplearn import DPP, KDPP
from dpplearn.kernels import rbf_similarity
from dpplearn.plots.figures.points import nearest_distance
from dpplearn.plots.style import BLUE, TWO_COLUMNS, VERMILION, new_figure, style
from options import read_options


def draw_points(candidates=2000, count=100, draws=10, seed=2):
    """The points, sets of `count` of them from a k-DPP, and as many sets drawn independently."""
    rng = np.random.default_rng(seed)
    points = rng.random((candidates, 2))
    L = rbf_similarity(points, length_scale=0.1) + 1e-6 * np.eye(candidates)  # a little on the diagonal: full rank
    apart = KDPP(DPP(L), count).sample(draws, rng=rng)
    independent = [rng.choice(candidates, size=count, replace=False) for _ in range(draws)]
    return points, list(apart), independent


def main(save=None):
    points, *kinds = draw_points()
    means = [np.mean([nearest_distance(points[Y]) for Y in sets]) for sets in kinds]
    print("The nearest other point is, on average,")
    print(f"{means[0]:.3f} away in sets from the DPP, and")
    print(f"{means[1]:.3f} away in sets drawn independently.")
    if save:
        with style():
            figure, axes = new_figure(TWO_COLUMNS, 3.75, columns=2)
            for ax, sets, title, color in zip(axes, kinds, ("DPP", "Independent"), (BLUE, VERMILION), strict=True):
                ax.scatter(*points.T, s=1, color="0.8", linewidths=0)  # what was there to choose from
                ax.scatter(*points[sets[0]].T, s=15, color=color, linewidths=0)
                ax.set(xticks=[], yticks=[], aspect="equal", title=title)
                ax.spines[:].set_visible(True)
            figure.savefig(save, dpi=160)
    return means


if __name__ == "__main__":
    main(**read_options(__doc__))
