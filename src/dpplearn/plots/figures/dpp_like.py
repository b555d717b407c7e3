"""Pairwise fields by the best DPP and by other methods: errors against how DPP-like the field is."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpplearn.plots.style import BLUE, GREEN, ORANGE, TWO_COLUMNS, VERMILION, new_figure, panel_title, style

# family: colour, marker, what it is
FAMILIES = {
    "dpp": (BLUE, "o", "DPP"),
    "bp": (GREEN, "^", "belief propagation"),
    "mean-field": (VERMILION, "s", "mean field"),
    "trw": (ORANGE, "v", "trees"),
}
KINDS = ("alike", "groups", "grid", "sparse", "dense", "mixed")


def read_study(name: str = "dpp_like") -> dict[str, Any]:
    """What scripts/dpp_like_study.py wrote: one cell for each field; "dpp_like_fresh" are those of other kinds.

    Examples
    --------
    >>> sorted({cell["n"] for cell in read_study()["cells"]})
    [10, 20, 50, 200]
    """
    return dict(json.loads((files("dpplearn.plots") / "data" / f"{name}.json").read_text(encoding="utf-8")))


@style()
def draw() -> Figure:
    cells = read_study()["cells"]
    figure, (left, middle, right) = new_figure(TWO_COLUMNS, 3.0, columns=3)
    panel_title(left, "a", r"Error in $\log Z$, per item")
    panel_title(middle, "b", "Error of the marginals")
    scatter(left, cells, lambda cell, name: abs(cell["errors"][name]["log_z"]) / cell["n"])
    scatter(middle, cells, lambda cell, name: cell["errors"][name]["marginals"])
    draw_kinds(right, cells)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4, handletextpad=0.2)
    return figure


def scatter(ax: Axes, cells: list[dict[str, Any]], measure: Any) -> None:
    """One point for each field and family, against the share of the dependence that the DPP misses."""
    for name, (colour, marker, label) in FAMILIES.items():
        x = [max(cell["missed"], 1e-3) for cell in cells]
        y = [max(measure(cell, name), 1e-6) for cell in cells]
        ax.scatter(x, y, s=9, color=colour, marker=marker, alpha=0.6, linewidths=0, label=label)
    ax.set(xscale="log", yscale="log", xlabel="share missed by the DPP")


def draw_kinds(ax: Axes, cells: list[dict[str, Any]]) -> None:
    """Median over the fields of a kind of the marginals' errors."""
    panel_title(ax, "c", "Marginals, by kind (median)")
    for name, (colour, marker, _) in FAMILIES.items():
        medians = [np.median([c["errors"][name]["marginals"] for c in cells if c["kind"] == kind]) for kind in KINDS]
        ax.plot(range(len(KINDS)), medians, color=colour, marker=marker, markersize=3.5, linewidth=0.8)
    ax.set_xticks(range(len(KINDS)), KINDS, rotation=45)
    ax.set(yscale="log")
