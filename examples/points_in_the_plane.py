"""Figure 1 of the paper: points drawn from a DPP keep apart, independent ones clump.

Run `python examples/points_in_the_plane.py --out figure1.png`.
"""

import argparse
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from dpplearn import DPP, KDPP
from dpplearn.kernels import rbf_similarity


def draw_points(candidates: int = 2000, count: int = 100, seed: int = 2):
    """`count` of many random points from a k-DPP, and as many drawn independently."""
    rng = np.random.default_rng(seed)
    points = rng.random((candidates, 2))
    # Similar where near: the closer two points are, the less often both are drawn.
    kdpp = KDPP(DPP(rbf_similarity(points, length_scale=0.1) + 1e-6 * np.eye(candidates)), count)
    apart = kdpp.sample(1, rng=rng)[0]
    independent = rng.choice(candidates, size=count, replace=False)
    return points[apart], points[independent]


def nearest_distance(points):
    """Mean distance from a point to the nearest other."""
    distance = np.linalg.norm(points[:, None] - points, axis=-1) + 9.0 * np.eye(len(points))
    return distance.min(axis=1).mean()


def plot(apart, independent, path):
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.9), layout="constrained")
    for ax, points, title in zip(axes, (apart, independent), ("DPP", "Independent"), strict=True):
        ax.scatter(*points.T, s=26, color="#0072B2" if title == "DPP" else "#D55E00", linewidths=0)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xticks=[], yticks=[], aspect="equal", title=title)
        ax.set_xlabel(f"nearest neighbour {nearest_distance(points):.3f} away on average")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description="Draw Figure 1: a DPP's points beside independent ones.")
    parser.add_argument("--out", type=Path, default=Path("figure1.png"), help="PNG to write (default: figure1.png)")
    path = parser.parse_args().out
    if not path.parent.is_dir():
        parser.error(f"the folder {path.parent} does not exist; make it, or give another --out")
    apart, independent = draw_points()
    plot(apart, independent, path)
    print(f"Drew {len(apart)} points of 2,000 from a DPP, and as many independently.")
    print(f"A point's nearest neighbour is {nearest_distance(apart):.3f} away on average in the DPP,")
    print(f"and {nearest_distance(independent):.3f} in the independent draw. The picture is in {path}.")


if __name__ == "__main__":
    main()
