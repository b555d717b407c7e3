"""The bundled summarizer's weights with 95 % intervals, by kind of feature."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from dpplearn.plots.style import TWO_COLUMNS, new_figure, panel_title, style
from dpplearn.plots.weights import plot_weights
from dpplearn.summarize.summarizer import Summarizer

# Panel: its title, and the first of its features; the others up to the next panel's are in it too.
PANELS = (
    ("How many, and where they stand", "constant"),
    ("What others say", "words of titles"),
    ("How they are written", "length"),
)


@style()
def draw() -> Figure:
    """One panel for each kind of feature, on one scale."""
    model = Summarizer.load()
    names = model.features_.names
    starts = [names.index(first) for _, first in PANELS]
    figure, axes = new_figure(TWO_COLUMNS, 2.4, columns=3, sharex=True)
    for ax, letter, (title, _), start, end in zip(axes, "abc", PANELS, starts, [*starts[1:], len(names)], strict=True):
        rows = slice(start, end)
        plot_weights(model.theta_[rows], ax, std=model.theta_std_[rows], names=list(names[rows]))
        panel_title(ax, letter, title)
        ax.grid(axis="x")
        ax.set_xlabel("")
    most = np.abs(model.theta_) + 1.96 * model.theta_std_
    axes[0].set_xlim(-1.05 * most.max(), 1.05 * most.max())
    figure.supxlabel(r"weight $\theta$ with 95 % interval (hollow: it holds 0)", fontsize=9)
    return figure
