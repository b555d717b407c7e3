"""What an item goes with, and what it replaces, as bars to the right and to the left."""

from __future__ import annotations

from matplotlib.axes import Axes

from dpplearn.learning.baskets.counted import Label
from dpplearn.learning.baskets.questions import BasketQuestions
from dpplearn.plots.checks import check_axes
from dpplearn.plots.style import BLUE, VERMILION


def plot_together(model: BasketQuestions, item: Label, ax: Axes | None = None, *, k: int = 8) -> Axes:
    """Show the k items that come with an item most and the k that come with it least, by correlation.

    Parameters
    ----------
    model : KernelDPP
    item : name or number
    ax : matplotlib axes, optional
        Where to draw; by default new axes.
    k : int
        Bars on each side at most; a symmetric kernel has none on the right.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from dpplearn import KernelDPP
    >>> model = KernelDPP(nonsymmetric=True, alpha=1.0).fit(30 * [["bib", "bottle"], ["cot"]])
    >>> ax = plot_together(model, "bib")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['cot', 'bottle']
    """
    found = [*model.alike(item, k), *reversed(model.together(item, k))]
    ax = check_axes(ax)
    values = [one.correlation for one in found]
    ax.barh(range(len(found)), values, color=[BLUE if value < 0 else VERMILION for value in values])
    ax.set_yticks(range(len(found)), [str(one.item) for one in found])
    ax.axvline(0.0, color="0.3", linewidth=0.8)
    ax.set_xlabel(f"instead of {item}  ←  correlation  →  together with {item}")
    return ax
