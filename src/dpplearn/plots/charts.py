"""A picture of weights with their intervals, and one of a selection of many items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.exceptions import NotFittedError

from dpplearn._checks import FloatArray, check_array, check_int, check_vector
from dpplearn.decoding.selection import DiverseSelection
from dpplearn.plots.style import BLUE, LIGHT, VERMILION, style

MOST_GROUPS = 12  # groups that are shown, the largest first


def plot_weights(
    model: Any,
    ax: Axes | None = None,
    *,
    std: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    top: int | None = None,
    level: float = 0.95,
) -> Axes:
    """Show each weight as a dot on its interval theta +- z std, hollow where the interval holds 0.

    Parameters
    ----------
    model : ConditionalDPP, Summarizer or array of shape (m,)
        A fitted model, whose weights, standard errors and names are taken, or the weights theta.
    ax : matplotlib axes, optional
        Where to draw; by default new axes.
    std : array of shape (m,), optional
        Standard errors, where theta is given; without them there are no intervals.
    names : m strings, optional
        Names of the features, instead of the model's own.
    top : int, optional
        Only so many of the weights, those largest in absolute value, largest first; by default all, in their order.
    level : float
        Share of such intervals that would hold the true weight; z is 1.96 for 0.95.

    Examples
    --------
    >>> ax = plot_weights([0.2, -1.5, 0.9], std=[0.3, 0.5, 0.2], names=["length", "price", "rating"], top=2)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['price', 'rating']
    >>> [[round(float(x), 2) for x in line[:, 0]] for line in ax.collections[0].get_segments()]
    [[-2.48, -0.52], [0.51, 1.29]]
    """
    theta, error, known = read_weights(model, std)
    names = known if names is None else names
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
    ax.set_ylim(shown.size - 0.4, -0.6)  # the first at the top
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "top", "right"]].set_visible(False)
    ax.set_xlabel(r"weight $\theta$" + (f" with {100 * level:g} % interval" if error is not None else ""))
    return ax


@style()
def draw_coverage(chosen: DiverseSelection, groups: Sequence[str] | None = None) -> Figure:
    """What each further item added, how near the others are to it, and groups before and after, where there are any."""
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
        show = np.argsort(-counts, kind="stable")[:MOST_GROUPS]
        places = np.arange(show.size)
        axes[2].barh(places - 0.2, counts[show] / counts.sum(), 0.4, color=BLUE, label="groups: all items")
        axes[2].barh(places + 0.2, after[show] / max(1, after.sum()), 0.4, color=VERMILION, label="chosen")
        axes[2].set_yticks(places, [str(name)[:18] for name in names[show]], parse_math=False)  # $ is a dollar here
        axes[2].invert_yaxis()
        axes[2].set(xlabel="share of the items")
        # in place of a title: bars may be anywhere below
        axes[2].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, borderaxespad=0.2)
    return figure


def check_axes(ax: Axes | None) -> Axes:
    """The axes given, or those of a new pyplot figure."""
    given: object = plt.subplots(layout="constrained")[1] if ax is None else ax
    if not isinstance(given, Axes):
        hint = " Pass one of them, such as axes[0]." if hasattr(given, "__len__") else ""
        raise TypeError(f"ax must be matplotlib axes or None, found {type(given).__name__}.{hint}")
    return given


def read_weights(model: Any, std: ArrayLike | None) -> tuple[FloatArray, FloatArray | None, list[str]]:
    """Weights, their standard errors if there are any, and names of the features."""
    if hasattr(model, "fit"):  # an estimator of ours
        if not hasattr(model, "theta_"):
            raise NotFittedError(f"This {type(model).__name__} is not fitted yet: call fit first, or load a file.")
        if std is not None:
            raise TypeError(f"std goes with an array of weights; a {type(model).__name__} has its own.")
        names = model.features_.names if hasattr(model, "features_") else model.feature_names_in_
        return model.theta_, model.theta_std_, [str(name) for name in names]
    theta = check_array(model, "theta", 1)
    if theta.size == 0:
        raise ValueError("theta has no weights: there is nothing to draw.")
    error = None if std is None else check_vector(std, "std", theta.size, low=0.0)
    return theta, error, [f"$\\theta_{{{i}}}$" for i in range(theta.size)]
