"""The paper's conjecture for more than three items: how far the closest DPP is from random repulsive MRFs."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, MultipleLocator, NullLocator

from dpplearn.plots.style import BLUE, GREEN, SEQUENTIAL, TWO_COLUMNS, VERMILION, new_figure, panel_title, style

# kind of repulsion: colour, marker, what it is
KINDS = {
    "across": (VERMILION, "s", "across two halves"),
    "random": (BLUE, "o", "random"),
    "groups": (GREEN, "^", "inside groups"),
}


def read_study() -> dict[str, Any]:
    """What scripts/conjecture_study.py wrote: a summary, and one cell for each field, kind, N and strength.

    Examples
    --------
    >>> sorted({cell["n"] for cell in read_study()["cells"]})
    [3, 4, 5, 6, 7, 8, 9, 10]
    """
    return dict(json.loads((files("dpplearn.plots") / "data" / "conjecture.json").read_text(encoding="utf-8")))


@style()
def draw() -> Figure:
    cells = [cell for cell in read_study()["cells"] if cell["field"] == "plain"]
    figure, (left, middle, right) = new_figure(TWO_COLUMNS, 2.65, columns=3)
    draw_divergence(left, [cell for cell in cells if cell["kind"] == "random"])
    draw_kinds(middle, [cell for cell in cells if cell["n"] == 10])
    draw_violation(right, cells)
    return figure


def draw_divergence(ax: Axes, cells: list[dict[str, Any]]) -> None:
    """KL divergence against strength, a line for each N; the last point of each carries its N."""
    panel_title(ax, "a", "Random repulsion")
    sizes = sorted({cell["n"] for cell in cells})
    for n in sizes:
        chosen = [cell for cell in cells if cell["n"] == n]
        means = [float(np.mean(cell["divergence"])) for cell in chosen]
        colour = SEQUENTIAL(0.3 + 0.7 * (n - sizes[0]) / (sizes[-1] - sizes[0]))
        ax.plot([cell["strength"] for cell in chosen], means, color=colour, marker="o", markersize=2.5, label=f"{n}")
    ax.yaxis.set_major_locator(MultipleLocator(0.05))
    ax.set(ylabel=r"KL(MRF $\Vert$ closest DPP), nats", ylim=(0, None))
    ax.legend(title="$N$", ncols=2, loc="upper left", reverse=True, columnspacing=0.8, handlelength=1.2)
    strength_axis(ax, cells)


def draw_kinds(ax: Axes, cells: list[dict[str, Any]]) -> None:
    """Share of the dependence that the closest DPP misses, by kind, with intervals of two standard errors."""
    panel_title(ax, "b", "Three kinds, $N = 10$")
    for kind, (colour, marker, label) in KINDS.items():
        chosen = [cell for cell in cells if cell["kind"] == kind]
        values = np.array([cell["missed"] for cell in chosen])
        errors = 2 * values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
        x = [cell["strength"] for cell in chosen]
        ax.errorbar(x, values.mean(axis=1), errors, color=colour, marker=marker, label=label, elinewidth=0.8)
    ax.set(ylabel="share of the dependence missed", ylim=(0, 1))
    ax.legend(loc="upper left")
    strength_axis(ax, cells)


def draw_violation(ax: Axes, cells: list[dict[str, Any]]) -> None:
    """One point for each MRF."""
    panel_title(ax, "c", "Transitivity, all $N$")
    for kind, (colour, marker, _) in KINDS.items():
        chosen = [cell for cell in cells if cell["kind"] == kind]
        violation, missed = (np.concatenate([cell[name] for cell in chosen]) for name in ("violation", "missed"))
        ax.scatter(violation, missed, s=7, color=colour, marker=marker, alpha=0.45, linewidths=0, rasterized=True)
    ax.set(xlabel="mean violation of the angles (rad)", ylabel="share of the dependence missed", ylim=(0, 1))


def strength_axis(ax: Axes, cells: list[dict[str, Any]]) -> None:
    strengths = sorted({cell["strength"] for cell in cells})
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_locator(FixedLocator(strengths))
    ax.xaxis.set_major_formatter(FixedFormatter([f"{s:g}" if s >= 1 else f"1/{1 / s:g}" for s in strengths]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("strength, mean of $-w_{ij}$")
