"""Figure 2: items are vectors, and the probability of a set grows with the squared volume that its vectors span."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Polygon

from dpplearn._checks import FloatArray
from dpplearn.dpp import DPP
from dpplearn.plots.style import BLACK, BLUE, GREEN, GREY, SKY, TITLE_SIZE, TWO_COLUMNS, VERMILION, style

COLOURS = (BLUE, VERMILION, GREEN)
# rows q_i phi_i; the first two lie in the plane, which panel (a) shows from above, and then below a solid
SOLID = np.array([[1.30, 0.12, 0.0], [0.30, 1.05, 0.0], [0.42, 0.10, 0.88]])
# directions of the three axes on the page: depth goes up and to the left
VIEW = np.array([[1.0, 0.0], [-0.62, 0.34], [0.0, 1.0]])


def unit(degrees: float) -> FloatArray:
    """The direction phi at an angle."""
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])


# in (b) the quality of the second item grows; in (c) the second item turns towards the first
QUALITY = [np.array([1.15 * unit(8), q * unit(70)]) for q in (0.85, 1.35)]
SIMILARITY = [np.array([1.25 * unit(8), 1.05 * unit(angle)]) for angle in (82, 38)]


def det(B: FloatArray) -> float:
    """det(B B^T), the squared volume of the parallelepiped that the rows span."""
    return float(np.linalg.det(B @ B.T))


def arrow(ax: Axes, end: FloatArray, i: int, label: str, offset: tuple[float, float]) -> None:
    """Draw the vector of item i from the origin, with its name at the head."""
    shape: Any = {"arrowstyle": "-|>", "mutation_scale": 9, "shrinkA": 0, "shrinkB": 0}
    ax.add_patch(FancyArrowPatch((0, 0), tuple(end), lw=1.5, color=COLOURS[i], zorder=4, **shape))
    ax.annotate(label, tuple(end), offset, textcoords="offset points", ha="center", va="center", color=COLOURS[i])


def face(ax: Axes, corner: FloatArray, a: FloatArray, b: FloatArray, alpha: float = 0.35) -> Polygon:
    """Draw the parallelogram that two vectors span at a corner."""
    patch = Polygon([corner, corner + a, corner + a + b, corner + b], closed=True, fc=SKY, alpha=alpha, lw=0)
    ax.add_patch(patch)
    return patch


def edge(ax: Axes, start: FloatArray, end: FloatArray, hidden: bool = False) -> None:
    ax.plot(*zip(start, end, strict=True), color=GREY, lw=0.7, ls=(0, (2.5, 2.5)) if hidden else "-", zorder=2)


def draw_area(ax: Axes, B: FloatArray) -> None:
    """Draw two vectors in the plane and the parallelogram between them."""
    a, b = B
    face(ax, np.zeros(2), a, b)
    edge(ax, a, a + b)
    edge(ax, b, a + b)
    arrow(ax, a, 0, r"$q_1\phi_1$", (6, -8))
    arrow(ax, b, 1, r"$q_2\phi_2$", (-4, 8))


def draw_solid(ax: Axes, B: FloatArray) -> None:
    """Draw three vectors and the parallelepiped between them, with hidden edges dashed."""
    a, b, c = B @ VIEW
    o = np.zeros(2)
    for corner, u, v in ((o, a, c), (o, b, c), (c, a, b)):  # front, left, top
        face(ax, corner, u, v, alpha=0.3)
    for path in ([a, a + c, a + b + c, b + c, b], [a + c, c, b + c]):
        for start, end in pairwise(path):
            edge(ax, start, end)
    for start in (a, b, a + b + c):
        edge(ax, start, a + b, hidden=True)
    for i, (end, offset) in enumerate(zip((a, b, c), ((6, -8), (-10, 6), (14, -5)), strict=True)):
        arrow(ax, end, i, f"$q_{i + 1}\\phi_{i + 1}$", offset)


def frame(ax: Axes, low: tuple[float, float], high: tuple[float, float], text: str) -> None:
    """Set equal scales without axes, and write a text below."""
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    ax.axis("off")
    ax.plot(0, 0, "o", ms=2.5, color=BLACK, zorder=5)
    ax.text(0.5, -0.02, text, transform=ax.transAxes, ha="center", va="top", fontsize=8.5, linespacing=1.5)


@style()
def draw() -> Figure:
    """Volumes in (a), and two items before and after a change of quality in (b) and of similarity in (c)."""
    figure = Figure(figsize=(TWO_COLUMNS, 4.1))  # without a layout engine, because titles run over several panels
    grid = figure.add_gridspec(2, 12, left=0.01, right=0.99, top=0.94, bottom=0.11, hspace=0.4, wspace=0.2)
    above = [figure.add_subplot(grid[0, 4 * i : 4 * i + 4]) for i in range(3)]
    below = [figure.add_subplot(grid[1, 3 * i : 3 * i + 3]) for i in range(4)]

    low, high = (-0.7, -0.25), (1.95, 1.35)
    arrow(above[0], SOLID[0, :2], 0, r"$q_1\phi_1$", (6, -8))
    frame(above[0], low, high, rf"length$^2$ = det $L_{{\{{1\}}}}$ = {det(SOLID[:1]):.2f}")
    draw_area(above[1], SOLID[:2, :2])
    frame(above[1], low, high, rf"area$^2$ = det $L_{{\{{1,2\}}}}$ = {det(SOLID[:2]):.2f}")
    draw_solid(above[2], SOLID)
    frame(above[2], low, high, rf"volume$^2$ = det $L_{{\{{1,2,3\}}}}$ = {det(SOLID):.2f}")

    for k, ax in enumerate(below):
        pair, after = (QUALITY, SIMILARITY)[k // 2], k % 2
        B = pair[after]
        draw_area(ax, B)
        if after:
            a, b = pair[0]
            ax.add_patch(Polygon([0 * a, a, a + b, b], fill=False, ec=GREY, lw=0.7, ls=(0, (2.5, 2.5)), zorder=1))
        q = np.linalg.norm(B, axis=1)
        text = f"$q_2$ = {q[1]:.2f}" if pair is QUALITY else f"$S_{{12}}$ = {B[0] @ B[1] / q.prod():.2f}"
        text += f"\ndet $L_Y$ = {det(B):.2f},  $P(Y)$ = {np.exp(DPP(B @ B.T).log_prob([0, 1])):.2f}"
        frame(ax, (-0.2, -0.25), (2.15, 1.6), text)
    for x, y, text in (
        (0.01, 0.985, "(a)  The volume that the vectors of a set span"),
        (0.01, 0.49, r"(b)  More quality, more probable: $Y = \{1, 2\}$"),
        (0.51, 0.49, r"(c)  More similar, less probable: $Y = \{1, 2\}$"),
    ):
        figure.text(x, y, text, fontsize=TITLE_SIZE, va="top")
    return figure
