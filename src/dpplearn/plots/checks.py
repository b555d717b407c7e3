"""Promises about what the plots are given: axes or none, a chosen set, names of items."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from dpplearn._checks import IntArray, Items, check_subset
from dpplearn.decoding import Selection


def check_axes(ax: Axes | None) -> Axes:
    """The axes given, or those of a new pyplot figure."""
    if ax is None:
        new: Axes = plt.subplots(layout="constrained")[1]
        return new
    given: object = ax
    if not isinstance(given, Axes):
        hint = " Pass one of them, such as axes[0]." if hasattr(given, "__len__") else ""
        raise TypeError(f"ax must be matplotlib axes or None, found {type(given).__name__}.{hint}")
    return given


def check_chosen(chosen: Items | Selection, n: int) -> tuple[IntArray, IntArray]:
    """A chosen set and the rest, ascending: of what a decoder returned, item numbers, or a boolean mask."""
    Y = check_subset(chosen.subset if isinstance(chosen, Selection) else chosen, n, "chosen")
    return Y, np.setdiff1d(np.arange(n), Y)


def check_labels(labels: Sequence[str] | None, n: int, name: str, what: str = "item") -> list[str] | None:
    """One string for each of n items, or none."""
    if labels is None:
        return None
    if isinstance(labels, str):
        raise TypeError(f"{name} must be a list of strings, one per {what}, found one string.")
    found = [str(label) for label in labels]
    if len(found) != n:
        raise ValueError(f"{name} must have one string per {what} ({n}), found {len(found)}.")
    return found
