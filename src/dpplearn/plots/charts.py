"""Pictures of weights with their intervals, and of what goes together in baskets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.special import ndtri

from dpplearn._checks import FloatArray, IntArray, check_array, check_int, check_vector
from dpplearn.baskets.baskets import Label
from dpplearn.baskets.kernel import KernelDPP
from dpplearn.baskets.pairs import most_frequent
from dpplearn.plots.style import BLUE, DIVERGING, LIGHT, VERMILION

BARS, SQUARES = 8, 40  # the defaults: bars on each side, and items of the matrix


def plot_weights(
    model: Any,
    ax: Axes | None = None,
    *,
    std: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    top: int | None = None,
    level: float = 0.95,
) -> Axes:
    """Show each weight as a dot on its interval theta +- z std; the dot is hollow if the interval contains 0.

    Parameters
    ----------
    model : ConditionalDPP, Summarizer or array of shape (m,)
        A fitted model, or the weights theta.
    ax : matplotlib axes, optional
        Where to draw; by default new axes.
    std : array of shape (m,), optional
        Standard errors of an array theta; without them there are no intervals.
    names : m strings, optional
        Names of the features, instead of the model's.
    top : int, optional
        Show only this many weights, the largest in absolute value first; by default all, in their order.
    level : float
        Confidence level of the intervals; z is 1.96 for 0.95.

    Examples
    --------
    >>> ax = plot_weights([0.2, -1.5, 0.9], std=[0.3, 0.5, 0.2], names=["length", "price", "rating"], top=2)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['price', 'rating']
    >>> [[round(float(x), 2) for x in line[:, 0]] for line in ax.collections[0].get_segments()]
    [[-2.48, -0.52], [0.51, 1.29]]
    """
    theta, error, default_names = read_weights(model, std)
    names = default_names if names is None else names
    if isinstance(names, str) or len(names) != theta.size:
        raise ValueError(f"names must have one string per weight ({theta.size}), found {names!r:.30}.")
    if not isinstance(level, int | float | np.floating) or not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, found {level!r}.")
    shown = np.arange(theta.size)
    if top is not None:
        shown = np.argsort(-np.abs(theta), kind="stable")[: check_int(top, "top", low=1)]
    ax = check_axes(ax)
    rows, theta = np.arange(shown.size), theta[shown]
    half = np.zeros(shown.size) if error is None else ndtri((1 + level) / 2) * error[shown]
    sure = (np.abs(theta) > half) | (error is None)
    ax.axvline(0, color=LIGHT, lw=0.8, zorder=0)
    if error is not None:
        ax.hlines(rows, theta - half, theta + half, colors=BLUE, lw=1.1)
    ax.scatter(theta, rows, 15, np.where(sure, BLUE, "white"), edgecolors=BLUE, linewidths=1.1, zorder=3)
    ax.set_yticks(rows, [names[int(i)] for i in shown])
    ax.set_ylim(shown.size - 0.4, -0.6)  # the first row at the top
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "top", "right"]].set_visible(False)
    ax.set_xlabel(r"weight $\theta$" + (f" with {100 * level:g} % interval" if error is not None else ""))
    return ax


def check_axes(ax: Axes | None) -> Axes:
    """The caller's axes, or those of a new pyplot figure."""
    axes: object = plt.subplots(layout="constrained")[1] if ax is None else ax
    if not isinstance(axes, Axes):
        hint = " Pass one of them, such as axes[0]." if hasattr(axes, "__len__") else ""
        raise TypeError(f"ax must be matplotlib axes or None, found {type(axes).__name__}.{hint}")
    return axes


def read_weights(model: Any, std: ArrayLike | None) -> tuple[FloatArray, FloatArray | None, list[str]]:
    """The weights, their standard errors if there are any, and the names of the features."""
    if hasattr(model, "fit"):  # one of our estimators
        theta, error = model.theta_, model.theta_std_  # raises if it is not fitted
        if std is not None:
            raise TypeError(f"std goes with an array of weights; a {type(model).__name__} has its own.")
        names = model.features_.names if hasattr(model, "features_") else model.feature_names_in_
        return theta, error, [str(name) for name in names]
    theta = check_array(model, "theta", 1)
    if theta.size == 0:
        raise ValueError("theta has no weights: there is nothing to draw.")
    error = None if std is None else check_vector(std, "std", theta.size, low=0.0)
    return theta, error, [f"$\\theta_{{{i}}}$" for i in range(theta.size)]


def plot_together(model: KernelDPP, item: Label | None = None, ax: Axes | None = None, *, k: int | None = None) -> Axes:
    """Show what goes with an item and what replaces it, or how all items go together.

    With an item, bars to the right are correlations with the items that come with it most often, and bars to the left
    with those that come with it least often. Correlations that may be chance have no bar. Without an item, each two
    items have a square, blue if they attract each other and orange if they repel. Similar items are neighbours.

    Parameters
    ----------
    model : KernelDPP
    item : name or number, optional
    ax : matplotlib axes, optional
        Where to draw; by default new axes.
    k : int, optional
        At most so many bars on each side (default 8), or items of the matrix, the most frequent ones (default 40).

    Examples
    --------
    >>> from dpplearn import KernelDPP
    >>> model = KernelDPP(nonsymmetric=True, alpha=1.0).fit(30 * [["bib", "bottle"], ["cot"], ["pram"]])
    >>> ax = plot_together(model, "bib")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['bottle']
    >>> plot_together(model).get_title(loc="left")
    'What goes together in baskets'
    """
    most = check_int(k, "k", low=1, high=None) if k is not None else SQUARES if item is None else BARS
    if item is None:
        return plot_matrix(model, check_axes(ax), most)
    others = [*model.alike(item, most), *reversed(model.together(item, most))]
    largest = max((abs(other.correlation) for other in others), default=0.0)
    others = [x for x in others if abs(x.correlation) > max(1 / np.sqrt(model.n_baskets_), 0.01 * largest)]
    ax, names, values = check_axes(ax), [str(x.item) for x in others], [x.correlation for x in others]
    ax.barh(range(len(names)), values, color=[VERMILION if value < 0 else BLUE for value in values])
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.axvline(0.0, color="0.3", linewidth=0.8)
    ax.set_title(f"What goes with {item}, and what replaces it", loc="left", parse_math=False)
    ax.set_xlabel("correlation of being in a basket")
    return ax


def plot_matrix(model: KernelDPP, ax: Axes, most: int) -> Axes:
    """Show correlations of the most frequent items as colours, in the order of their clusters."""
    items = most_frequent(model.counts_, most)
    correlations = model.dpp_.correlations(items)
    order = cluster_order(correlations)
    shown = correlations[np.ix_(order, order)]
    np.fill_diagonal(shown, 0.0)
    top = float(np.quantile(np.abs(shown), 0.99)) or 1.0  # so that one strong pair does not leave the others pale
    image = ax.imshow(shown, cmap=DIVERGING, vmin=-top, vmax=top, interpolation="nearest")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03, extend="both")
    bar.outline.set_visible(False)
    bar.set_label("correlation of being in a basket")
    names = [str(name) for name in model.items_[items[order]]]
    size = "small" if len(names) <= 20 else 5
    ax.set_xticks(range(len(names)), names, rotation=90, fontsize=size, parse_math=False)
    ax.set_yticks(range(len(names)), names, fontsize=size, parse_math=False)
    ax.set_title("What goes together in baskets", loc="left")
    return ax


def cluster_order(correlations: FloatArray) -> IntArray:
    """The items in the order of the leaves of a tree of clusters, in which those that go together are neighbours."""
    n = len(correlations)
    if n < 3:
        return np.arange(n)
    scale = np.abs(correlations - np.eye(n)).max() or 1.0
    distance = np.sqrt(np.maximum(1.0 - np.clip(correlations / scale, -1.0, 1.0), 0.0))
    return leaves_list(linkage(distance[np.triu_indices(n, 1)], "average", optimal_ordering=True))
