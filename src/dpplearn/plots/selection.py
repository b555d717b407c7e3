"""Items in the plane, quality as size, with the chosen set marked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from dpplearn._checks import Items, check_array, check_vector
from dpplearn.decoding import Selection
from dpplearn.plots.checks import check_axes, check_chosen, check_labels
from dpplearn.plots.style import BLUE, VERMILION, legend_above

SMALLEST, LARGEST = 6.0, 130.0  # areas of markers in square points


def plot_selection(
    points: ArrayLike,
    ax: Axes | None = None,
    *,
    chosen: Items | Selection = (),
    quality: ArrayLike | None = None,
    labels: Sequence[str] | None = None,
) -> Axes:
    """Show items at their places in the plane, larger where quality is higher, the chosen ones ringed.

    Parameters
    ----------
    points : array of shape (n, 2)
        Where each item lies: what makes two items similar should bring them near, such as two principal components.
    ax : matplotlib axes, optional
        Where to draw; by default new axes.
    chosen : item numbers or Selection, optional
        The set to mark, as a decoder returns it.
    quality : array of shape (n,), optional
        q_i >= 0; the area of a marker grows in proportion to it. By default all are the same size.
    labels : strings, optional
        Names of the items, written beside the chosen ones.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from dpplearn import DPP
    >>> from dpplearn.decoding import greedy_map
    >>> from dpplearn.kernels import rbf_similarity
    >>> points, q = [[0.0, 0.0], [0.1, 0.0], [2.0, 1.0]], [3.0, 2.9, 1.5]
    >>> chosen = greedy_map(DPP.from_quality(q, rbf_similarity(points, length_scale=1.0)))
    >>> ax = plot_selection(points, chosen=chosen, quality=q)
    >>> ax.collections[1].get_offsets().data  # the chosen: the second is too near the first
    array([[0., 0.],
           [2., 1.]])
    """
    X = check_array(points, "points", 2)
    if len(X) == 0 or X.shape[1] != 2:
        hint = " Project them first, for example onto two principal components." if X.shape[1] > 2 else ""
        raise ValueError(f"points must have one row per item and 2 columns, found shape {X.shape}.{hint}")
    (Y, rest), names = check_chosen(chosen, len(X)), check_labels(labels, len(X), "labels")
    area = np.full(len(X), 30.0)
    if quality is not None:
        q = check_vector(quality, "quality", len(X), low=0.0)
        # In proportion to quality, but never too small to see.
        area = np.maximum(LARGEST * q / (q.max() or 1.0), SMALLEST)
    ax = check_axes(ax)
    x, y = X.T
    ax.scatter(x[rest], y[rest], area[rest], BLUE, alpha=0.35, linewidths=0, label="left out" if Y.size else None)
    ax.scatter(x[Y], y[Y], area[Y], VERMILION, edgecolors="black", linewidths=0.8, label="chosen", zorder=3)
    if names is not None:
        for i in Y:
            beside = (float(np.sqrt(area[i] / np.pi)) + 2, 0)  # a radius to the right
            ax.annotate(names[i], X[i], beside, textcoords="offset points", va="center", fontsize="small")
    if Y.size:
        legend = legend_above(ax)
        for handle in legend.legend_handles:
            if handle is not None:
                handle.set(sizes=[30.0])  # one size, for size means quality
    ax.set_aspect("equal", adjustable="datalim")  # distance is what similarity is about
    return ax
