"""A picture of weights with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.exceptions import NotFittedError

from dpplearn._checks import FloatArray, check_array, check_int, check_vector
from dpplearn.plots.style import BLUE, LIGHT


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
