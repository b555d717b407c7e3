"""The bundled summarizer's 39 weights with 95 % intervals, by kind of feature."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from dpplearn.plots.style import TWO_COLUMNS, new_figure, panel_title, style
from dpplearn.plots.weights import plot_weights
from dpplearn.summarize.summarizer import Summarizer

# Panel: its title, and how the names of its features begin.
PANELS = (
    ("Length and position", ("constant", "length", "position")),
    ("Mean similarity to the cluster", ("similarity",)),
    ("LexRank", ("lexrank",)),
)


def bin_name(name: str) -> str:
    """A feature of a panel that says what is binned.

    Examples
    --------
    >>> bin_name(""), bin_name(" 2/5"), bin_name(" 2/5 of cluster")
    ('raw score', '2/5 of training', '2/5 of cluster')
    """
    name = name.strip()
    return "raw score" if not name else name if "of" in name else f"{name} of training"


@style()
def draw() -> Figure:
    """One panel for each kind of feature, on one scale."""
    model = Summarizer.load()
    names = model.features_.names
    figure, axes = new_figure(TWO_COLUMNS, 3.0, columns=3, sharex=True)
    for ax, letter, (title, starts) in zip(axes, "abc", PANELS, strict=True):
        rows = [i for i, name in enumerate(names) if name.startswith(starts)]
        said = [names[i] if len(starts) > 1 else bin_name(names[i].removeprefix(starts[0])) for i in rows]
        plot_weights(model.theta_[rows], ax, std=model.theta_std_[rows], names=said)
        panel_title(ax, letter, title)
        ax.grid(axis="x")
        ax.set_xlabel("")
    most = np.abs(model.theta_) + 1.96 * model.theta_std_
    axes[0].set_xlim(-1.05 * most.max(), 1.05 * most.max())
    figure.supxlabel(r"weight $\theta$ with 95 % interval (hollow: it holds 0)", fontsize=9)
    return figure
