"""The probability of each item as a bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from dpplearn._checks import FloatArray, Items, check_array
from dpplearn.decoding import Selection
from dpplearn.implicit import ImplicitDPP
from dpplearn.kdpp import KDPP
from dpplearn.mrf import PairwiseMRF
from dpplearn.plots.checks import check_axes, check_chosen, check_labels
from dpplearn.plots.style import BLUE, VERMILION, legend_above
from dpplearn.process import PointProcess


def plot_marginals(
    dpp: PointProcess | KDPP | PairwiseMRF | ArrayLike,
    ax: Axes | None = None,
    *,
    chosen: Items | Selection = (),
    labels: Sequence[str] | None = None,
) -> Axes:
    """Show P(i in Y) of every item as a bar: of a DPP K_ii, equation (2).

    Parameters
    ----------
    dpp : DPP, LowRankDPP, NonsymmetricDPP, KDPP, PairwiseMRF or array of shape (n,)
        A distribution, or the probabilities themselves, such as `ConditionalDPP.marginals` gives.
    ax : matplotlib axes, optional
        Where to draw; by default new axes.
    chosen : item numbers or Selection, optional
        A set whose bars get another colour, and a line in the legend.
    labels : n strings, optional
        Names of the items.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from dpplearn import DPP
    >>> from dpplearn.decoding import greedy_map
    >>> dpp = DPP([[3.0, 2.9, 0.0], [2.9, 4.0, 0.0], [0.0, 0.0, 1.0]])
    >>> ax = plot_marginals(dpp, chosen=greedy_map(dpp, k=2))
    >>> [round(float(bar.get_height()), 3) for bar in ax.patches]
    [0.569, 0.655, 0.5]
    """
    p = check_probabilities(dpp)
    (Y, rest), names = check_chosen(chosen, p.size), check_labels(labels, p.size, "labels")
    ax = check_axes(ax)
    width = 0.8 if p.size <= 100 else 1.0  # gaps between very many bars only make them pale
    ax.bar(rest, p[rest], width, color=BLUE)
    bars = ax.bar(Y, p[Y], width, color=VERMILION)
    if Y.size:
        bars[0].set_label("chosen")
        legend_above(ax)
    if names is not None:
        ax.set_xticks(range(p.size), names, rotation=90)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlabel("item $i$")
    ax.set(xlim=(-0.6, p.size - 0.4), ylim=(0, min(1.0, 1.05 * float(p.max())) or 1.0))
    ax.set_ylabel(r"$P(i \in Y)$")
    return ax


def check_probabilities(dpp: Any) -> FloatArray:
    """One probability for each item."""
    if isinstance(dpp, PointProcess | KDPP | PairwiseMRF):
        return dpp.marginals
    if isinstance(dpp, ImplicitDPP) or callable(getattr(dpp, "marginals", None)):
        raise TypeError(
            "dpp must be a DPP, LowRankDPP, KDPP, PairwiseMRF or an array of probabilities, found "
            f"{type(dpp).__name__}. Of a ConditionalDPP, pass model.dpp(items) or model.marginals(items)."
        )
    p = check_array(dpp, "marginals", 1)
    if p.size == 0:
        raise ValueError("marginals has no items: there is nothing to draw.")
    if p.min() < 0 or p.max() > 1:
        i = int(np.argmax(np.maximum(-p, p - 1)))
        raise ValueError(f"marginals must be probabilities, from 0 to 1, but marginals[{i}] is {p[i]:.3g}.")
    return p
