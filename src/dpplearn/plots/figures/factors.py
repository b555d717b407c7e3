"""Figure 3: the factor graph of three items, and the ternary factors of an MRF and of a DPP."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from dpplearn.mrf.few_items import ternary_factors
from dpplearn.plots.style import BLACK, BLUE, GREY, LIGHT, TWO_COLUMNS, VERMILION, new_figure, panel_title, style

W_EXAMPLE = (-1.0, -1.0, 0.0)  # item 1 repels both others, which do not repel each other
MRF_ENTRIES = ("1", "1", "1", "1", "$e^{w_{12}}$", "$e^{w_{13}}$", "$e^{w_{23}}$", "$e^{w_{12}+w_{13}+w_{23}}$")
DPP_ENTRIES = (
    *("1", "1", "1", "1"),
    *("$1-S_{12}^2$", "$1-S_{13}^2$", "$1-S_{23}^2$"),
    "$1+2S_{12}S_{13}S_{23}-S_{12}^2-S_{13}^2-S_{23}^2$",
)


def matching_similarities(w: tuple[float, float, float]) -> tuple[float, float, float]:
    """S of the DPP that has the MRF's entries 110, 101 and 111, for w23 = 0.

    The entry 111 of a DPP is at most (1 - S12^2) (1 - S13^2), which it reaches only for S23 = S12 S13. So the entry 011
    is below 1 in the DPP, but 1 in the MRF.

    >>> [round(s, 3) for s in matching_similarities((-1.0, -1.0, 0.0))]
    [0.795, 0.795, 0.632]
    """
    S12, S13 = np.sqrt(-np.expm1(w[:2]))
    return float(S12), float(S13), float(S12 * S13)


@style()
def draw() -> Figure:
    figure, (left, right) = new_figure(TWO_COLUMNS, 2.75, columns=2, width_ratios=(1, 3.1))
    draw_graph(left)
    draw_table(right)
    return figure


def draw_graph(ax: Axes) -> None:
    """Draw items as circles and factors as squares."""
    panel_title(ax, "a", "Factor graph")
    for number, degrees in zip((1, 2, 3), (90, 210, 330), strict=True):
        x, y = float(np.cos(np.radians(degrees))), float(np.sin(np.radians(degrees)))
        ax.plot([0.0, 1.8 * x], [0.0, 1.8 * y], color=GREY, linewidth=0.9, zorder=1)
        ax.add_patch(Circle((x, y), 0.27, facecolor="white", edgecolor=BLACK, linewidth=0.9, zorder=2))
        ax.text(x, y, f"$y_{number}$", ha="center", va="center", fontsize=10, zorder=3)
        square(ax, 1.8 * x, 1.8 * y, GREY)
        right, up = (0.24, 0.0) if number == 1 else (-0.12, -0.42)
        ax.text(1.8 * x + right, 1.8 * y + up, rf"$\psi_{number}$", ha="left", va="center", fontsize=10)
    square(ax, 0.0, 0.0, BLACK)
    ax.text(0.24, 0.06, r"$\psi_{123}$", ha="left", va="bottom", fontsize=10)
    ax.set_xlim(-2.0, 2.0)
    ax.set_aspect("equal", adjustable="datalim")  # so that the panel keeps its height
    ax.axis("off")


def square(ax: Axes, x: float, y: float, colour: str) -> None:
    ax.add_patch(Rectangle((x - 0.14, y - 0.14), 0.28, 0.28, color=colour, linewidth=0, zorder=2))


def draw_table(ax: Axes) -> None:
    """Draw the formulas, and their values for one example."""
    panel_title(ax, "b", r"The ternary factor $\psi_{123}$")
    S = matching_similarities(W_EXAMPLE)
    table = ternary_factors(W_EXAMPLE, S)
    edges = (0.0, 0.13, 0.36)  # left ends of y, MRF and DPP
    top = 7.6
    ax.text(edges[0], top + 1.0, "$y_1y_2y_3$", va="center")
    ax.text(edges[1], top + 1.0, "MRF", va="center", color=VERMILION, weight="bold")
    ax.text(edges[2], top + 1.0, "DPP", va="center", color=BLUE, weight="bold")
    ax.text(0.875, top + 1.95, "example", va="center", ha="center", style="italic")
    for x, name, colour in ((0.845, "MRF", VERMILION), (0.965, "DPP", BLUE)):
        ax.text(x, top + 1.0, name, va="center", ha="right", color=colour)
    rows = zip(table.states, MRF_ENTRIES, DPP_ENTRIES, table.mrf, table.dpp, strict=True)
    for number, (state, mrf, dpp, x, y) in enumerate(rows):
        height = top - number
        differs = abs(x - y) > 5e-3
        if differs:
            ax.axhspan(height - 0.5, height + 0.5, xmin=0.755, xmax=0.985, color=LIGHT, alpha=0.6, linewidth=0)
        ax.text(edges[0], height, state, va="center", family="monospace", fontsize=8.5)
        ax.text(edges[1], height, mrf, va="center")
        ax.text(edges[2], height, dpp, va="center")
        for place, value, colour in ((0.845, x, VERMILION), (0.965, y, BLUE)):
            weight = "bold" if differs else "normal"
            ax.text(place, height, f"{value:.2f}", va="center", ha="right", color=colour, weight=weight)
    for height in (top + 0.5, top - 3.5, top - 7.5):
        ax.axhline(height, color=BLACK, linewidth=0.6 if height != top - 3.5 else 0.3)
    w = ",\\,".join(f"{{{x:g}}}" for x in W_EXAMPLE)  # braces make the minus a sign
    s = ",\\,".join(f"{x:.2f}" for x in S)
    note = f"Example: $w = ({w})$; the DPP with the same entries 110, 101 and 111 has $S = ({s})$."
    ax.text(0.0, top - 8.2, note, va="center", fontsize=7.5)
    ax.set(xlim=(-0.01, 1.0), ylim=(top - 8.6, top + 2.4))
    ax.axis("off")
