"""A selection at a glance: what each further item added, how near the others are to it, and groups before and after."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dpplearn.decoding.selection import DiverseSelection
from dpplearn.plots.style import BLUE, VERMILION, legend_above, style

MOST = 12  # groups that are shown, the largest first


@style()
def draw_coverage(chosen: DiverseSelection, groups: Sequence[str] | None = None) -> Figure:
    """Two panels, or three where there are groups."""
    figure = Figure(figsize=(9.6 if groups is not None else 6.6, 2.8), layout="constrained")
    axes = figure.subplots(1, 2 if groups is None else 3)
    rank = np.arange(1, len(chosen) + 1)
    few = len(chosen) <= 20
    axes[0].plot(rank, chosen.shares, "o-" if few else "-", color=BLUE)
    if few:
        axes[0].xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    else:
        axes[0].set_xscale("log")
    if len(chosen) and chosen.shares.min() > 0.0:
        axes[0].set_yscale("log")
    axes[0].set(xlabel="rank", ylabel="added, as a share of the most", title="What each item added")
    rest = np.ones(chosen.limits.cost.size, np.bool_)
    rest[chosen.subset] = False
    similarity = np.sort(chosen.nearest.similarity[rest])
    if similarity.size:
        axes[1].plot(similarity, 1.0 - np.arange(similarity.size) / similarity.size, color=BLUE)
    axes[1].set(xlabel="similarity to the nearest chosen", ylabel="left out, at least so near", title="Coverage")
    axes[1].set_ylim(0.0, 1.05)
    if groups is not None:
        names, numbers, counts = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
        after = np.bincount(numbers[chosen.subset], minlength=names.size)
        show = np.argsort(-counts, kind="stable")[:MOST]
        places = np.arange(show.size)
        axes[2].barh(places - 0.2, counts[show] / counts.sum(), 0.4, color=BLUE, label="groups: all items")
        axes[2].barh(places + 0.2, after[show] / max(1, after.sum()), 0.4, color=VERMILION, label="chosen")
        axes[2].set_yticks(places, [str(name)[:18] for name in names[show]], parse_math=False)  # $ is a dollar here
        axes[2].invert_yaxis()
        axes[2].set(xlabel="share of the items")
        legend_above(axes[2])  # in place of a title: bars may be anywhere below
    return figure
