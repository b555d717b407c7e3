"""Pictures of a kernel, of marginals, of items in the plane and of weights, and of a selection of many items."""

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

from dpplearn._checks import (
    FloatArray,
    IntArray,
    Items,
    check_array,
    check_choice,
    check_int,
    check_items,
    check_square,
    check_subset,
    check_vector,
)
from dpplearn.decoding import Selection
from dpplearn.decoding.selection import DiverseSelection
from dpplearn.dpp import DPP
from dpplearn.implicit import ImplicitDPP
from dpplearn.kdpp import KDPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.mrf import PairwiseMRF
from dpplearn.plots.style import BLUE, DIVERGING, LIGHT, SEQUENTIAL, VERMILION, legend_above, style
from dpplearn.process import PointProcess

MOST = 12  # groups that are shown, the largest first
SMALLEST, LARGEST = 6.0, 130.0  # areas of markers in square points


def plot_kernel(
    kernel: DPP | LowRankDPP | ArrayLike,
    ax: Axes | None = None,
    *,
    which: str | None = None,
    order: Items | None = None,
    labels: Sequence[str] | None = None,
    colorbar: bool = True,
) -> Axes:
    """Show a kernel as a picture, dark where two items are similar.

    Parameters
    ----------
    kernel : DPP, LowRankDPP or array of shape (n, n)
    ax : matplotlib axes, optional
        Where to draw; by default new axes.
    which : {"L", "K", "S"}, optional
        Of a DPP: the likelihood kernel, the marginal kernel or the similarity S_ij = L_ij / sqrt(L_ii L_jj).
        By default L, or K where there is no L. Of an array, what to call it.
    order : item numbers, optional
        Rows and columns from first to last, each item once, such as the chosen set followed by the rest.
    labels : n strings, optional
        Names of the items.
    colorbar : bool
        Whether to show which colour is which value.

    Examples
    --------
    >>> from dpplearn import DPP
    >>> ax = plot_kernel(DPP([[2.0, 1.0], [1.0, 2.0]]), which="S", labels=["left", "right"])
    >>> ax.images[0].get_array().data
    array([[1. , 0.5],
           [0.5, 1. ]])
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['left', 'right']
    """
    if which is not None:
        check_choice(which, "which", ("L", "K", "S"))
    if isinstance(kernel, DPP | LowRankDPP):
        which = which or ("L" if kernel.has_L else "K")
        A = kernel.similarity if which == "S" else kernel.L if which == "L" else kernel.K
    elif isinstance(kernel, KDPP):
        raise TypeError("A KDPP has no kernel of its own: pass the DPP it is made from, kdpp.dpp.")
    elif isinstance(kernel, ImplicitDPP):
        raise TypeError("An ImplicitDPP holds no matrix: pass the block of it that you want to see.")
    else:
        A = check_square(kernel, which or "kernel")
    items = np.arange(len(A)) if order is None else check_items(order, len(A), "order")
    if items.size != len(A):
        raise ValueError(
            f"order must name each of the {len(A)} items once, found {items.size} of them. "
            "To draw a part, pass the block of the kernel: L[np.ix_(order, order)]."
        )
    names = check_names(labels, len(A), "labels")
    ax = check_axes(ax)
    shown = A[np.ix_(items, items)]
    # From 0, so that white is "nothing in common"; similarities up to 1, so that two pictures compare.
    top = 1.0 if which == "S" else float(np.abs(shown).max()) or 1.0
    bar = show_matrix(ax, shown, top, signed=bool(shown.min() < 0), colorbar=colorbar)
    if bar is not None:
        bar.ax.set_title(f"${which}_{{ij}}$" if which else "", fontsize="medium")  # above: beside it may be other axes
    if names is None:
        ax.set(xlabel="item", ylabel="item")
    if names is not None or order is not None or items.size <= 12:
        step = 1 if names is not None else -(-items.size // 12)  # at most twelve numbers on each side
        ticks, said = range(0, items.size, step), items[::step] if names is None else [names[i] for i in items]
        ax.set_xticks(ticks, said, rotation=90 if names is not None else 0)
        ax.set_yticks(ticks, said)
    return ax


def show_matrix(ax: Axes, A: FloatArray, top: float, *, signed: bool, colorbar: bool = True, **options: Any) -> Any:
    """A matrix as colours from 0, or -top, to top, without frame and ticks; its bar of colours, if there is one."""
    low, colours = (-top, DIVERGING) if signed else (0.0, SEQUENTIAL)
    image = ax.imshow(A, cmap=colours, vmin=low, vmax=top, interpolation="nearest")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if not colorbar:
        return None
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03, **options)
    bar.outline.set_visible(False)
    return bar


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
    (Y, rest), names = check_chosen(chosen, p.size), check_names(labels, p.size, "labels")
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
    (Y, rest), names = check_chosen(chosen, len(X)), check_names(labels, len(X), "labels")
    area = np.full(len(X), 30.0)
    if quality is not None:
        q = check_vector(quality, "quality", len(X), low=0.0)
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
    names = check_names(names, theta.size, "names", "weight") or known
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
    ax.set_yticks(rows, [names[i] for i in shown])
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
        show = np.argsort(-counts, kind="stable")[:MOST]
        places = np.arange(show.size)
        axes[2].barh(places - 0.2, counts[show] / counts.sum(), 0.4, color=BLUE, label="groups: all items")
        axes[2].barh(places + 0.2, after[show] / max(1, after.sum()), 0.4, color=VERMILION, label="chosen")
        axes[2].set_yticks(places, [str(name)[:18] for name in names[show]], parse_math=False)  # $ is a dollar here
        axes[2].invert_yaxis()
        axes[2].set(xlabel="share of the items")
        legend_above(axes[2])  # in place of a title: bars may be anywhere below
    return figure


def check_axes(ax: Axes | None) -> Axes:
    """The axes given, or those of a new pyplot figure."""
    given: object = plt.subplots(layout="constrained")[1] if ax is None else ax
    if not isinstance(given, Axes):
        hint = " Pass one of them, such as axes[0]." if hasattr(given, "__len__") else ""
        raise TypeError(f"ax must be matplotlib axes or None, found {type(given).__name__}.{hint}")
    return given


def check_chosen(chosen: Any, n: int) -> tuple[IntArray, IntArray]:
    """A chosen set and the rest, ascending: of what a decoder returned, item numbers, or a boolean mask."""
    Y = check_subset(getattr(chosen, "subset", chosen), n, "chosen")
    return Y, np.setdiff1d(np.arange(n), Y)


def check_names(labels: Sequence[str] | None, n: int, name: str, what: str = "item") -> list[str] | None:
    """One string for each of n items, or none."""
    if isinstance(labels, str):
        raise TypeError(f"{name} must be a list of strings, one per {what}, found one string.")
    if labels is not None and len(labels) != n:
        raise ValueError(f"{name} must have one string per {what} ({n}), found {len(labels)}.")
    return None if labels is None else [str(label) for label in labels]


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
    for i in np.flatnonzero((p < 0) | (p > 1))[:1]:
        raise ValueError(f"marginals must be probabilities, from 0 to 1, but marginals[{i}] is {p[i]:.3g}.")
    return p


def read_weights(model: Any, std: ArrayLike | None) -> tuple[FloatArray, FloatArray | None, list[str]]:
    """Weights, their standard errors if there are any, and names of the features."""
    if hasattr(model, "_check_fitted"):  # an estimator of ours: before `fit` it says what to do
        model._check_fitted()
        if std is not None:
            raise TypeError(f"std goes with an array of weights; a {type(model).__name__} has its own.")
        names = model.features_.names if hasattr(model, "features_") else model.feature_names_in_
        return model.theta_, model.theta_std_, [str(name) for name in names]
    theta = check_array(model, "theta", 1)
    if theta.size == 0:
        raise ValueError("theta has no weights: there is nothing to draw.")
    error = None if std is None else check_vector(std, "std", theta.size, low=0.0)
    return theta, error, [f"$\\theta_{{{i}}}$" for i in range(theta.size)]
