"""What goes with what in baskets: bars for one item, or a matrix of all items in the order of their clusters."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from scipy.cluster.hierarchy import leaves_list, linkage

from dpplearn._checks import FloatArray, IntArray, check_int
from dpplearn.baskets.baskets import Label
from dpplearn.baskets.kernel import KernelDPP
from dpplearn.baskets.pairs import most_frequent
from dpplearn.plots.charts import check_axes
from dpplearn.plots.style import BLUE, DIVERGING, VERMILION

BARS, SQUARES = 8, 40  # shown by default: bars on each side, and items of the matrix


def plot_together(model: KernelDPP, item: Label | None = None, ax: Axes | None = None, *, k: int | None = None) -> Axes:
    """Show what goes with an item and what replaces it; without an item, how all items go together.

    Of one item, bars to the right are the correlations with the items that come with it most, those to the left with
    the items that come with it least. Correlations that are no more than chance gives have no bar. Without an item, a
    square for each two items, blue where they attract and orange where they repel. Items that go together are
    neighbours.

    Parameters
    ----------
    model : KernelDPP
    item : name or number, optional
    ax : matplotlib axes, optional
        Where to draw; by default new axes.
    k : int, optional
        Bars on each side at most (default 8); or items of the matrix, the most frequent ones (default 40).

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
    found = [*model.alike(item, most), *reversed(model.together(item, most))]
    values = np.array([one.correlation for one in found])
    seen = np.abs(values) > max(1 / np.sqrt(model.n_baskets_), 0.01 * np.abs(values).max(initial=0.0))
    names, values = [str(one.item) for one, shown in zip(found, seen, strict=True) if shown], values[seen]
    ax = check_axes(ax)
    ax.barh(range(len(names)), values, color=[VERMILION if value < 0 else BLUE for value in values])
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.axvline(0.0, color="0.3", linewidth=0.8)
    ax.set_title(f"What goes with {item}, and what replaces it", loc="left", parse_math=False)
    ax.set_xlabel("correlation of being in a basket")
    return ax


def plot_matrix(model: KernelDPP, ax: Axes, most: int) -> Axes:
    """Correlations of the most frequent items as colours, in the order of their clusters."""
    items = most_frequent(model.counts_, most)
    correlations = model.dpp_.correlations(items)
    order = cluster_order(correlations)
    shown = correlations[np.ix_(order, order)]
    np.fill_diagonal(shown, 0.0)
    top = float(np.quantile(np.abs(shown), 0.99)) or 1.0  # one strong pair would leave the others pale
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
    """The items in an order in which those that go together are neighbours: the leaves of a tree of clusters."""
    n = len(correlations)
    if n < 3:
        return np.arange(n)
    scale = np.abs(correlations - np.eye(n)).max() or 1.0
    distance = np.sqrt(np.maximum(1.0 - np.clip(correlations / scale, -1.0, 1.0), 0.0))
    return leaves_list(linkage(distance[np.triu_indices(n, 1)], "average", optimal_ordering=True))
