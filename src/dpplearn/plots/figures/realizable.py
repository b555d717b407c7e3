"""Figure 4: the entries 110, 101 and 011 of the ternary factor that are possible for a given entry 111."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from dpplearn.mrf.few_items import FactorSurface, factor_surface
from dpplearn.plots.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, TWO_COLUMNS, VERMILION, style

ENTRIES = {0.001: VERMILION, 0.25: GREEN, 0.5: BLUE, 0.75: GREY}  # the paper's red, green, blue and grey
OVERLAY = 0.1
VIEWS = (28, 38, 1.04), (28, 38, 1.04), (-22, 228, 1.09), (16, -22, 1.09)  # elevation, azimuth, height of the title
SMOOTH = 100  # steps along a side, enough to hide the facets
FINE = 300  # steps for surfaces that cross, because triangles are drawn whole


def panels() -> dict[str, list[tuple[FactorSurface, str]]]:
    """The surfaces of each panel with their colours."""
    nested = [
        [(factor_surface(model, x, resolution=SMOOTH), colour) for x, colour in ENTRIES.items()]
        for model in ("mrf", "dpp")
    ]
    mrf, front = (factor_surface(model, OVERLAY, resolution=FINE) for model in ("mrf", "dpp"))
    back = factor_surface("dpp", OVERLAY, sign=-1, resolution=FINE)
    return {
        "(a)  MRF": nested[0],
        r"(b)  DPP, $S_{ij}\geq 0$": nested[1],
        f"(c)  both at 111 = {OVERLAY:g}, seen from the origin": [(front, SKY), (mrf, ORANGE)],
        f"(d)  the closed DPP surface at 111 = {OVERLAY:g}": [(front, SKY), (back, PURPLE)],
    }


@style()
def draw() -> Figure:
    figure = Figure(figsize=(TWO_COLUMNS, 7.0))  # a layout engine would make the cubes small
    axes = figure.subplots(2, 2, subplot_kw={"projection": "3d", "computed_zorder": False}).ravel()
    figure.subplots_adjust(left=0.01, right=0.95, bottom=0.04, top=0.96, wspace=0.06, hspace=0.26)
    for ax, (title, surfaces), (elevation, azimuth, height) in zip(axes, panels().items(), VIEWS, strict=True):
        show(ax, surfaces, (elevation, azimuth))
        ax.set_title(title, y=height)
    above = [Patch(color=colour, label=f"entry 111 = {entry:g}") for entry, colour in ENTRIES.items()]
    figure.legend(handles=above, loc="center", bbox_to_anchor=(0.5, 0.517), ncols=4)
    below = [
        Patch(color=ORANGE, label="MRF"),
        Patch(color=SKY, label=r"DPP, $S_{12}S_{13}S_{23}\geq 0$"),
        Patch(color=PURPLE, label=r"DPP, $S_{12}S_{13}S_{23}\leq 0$"),
    ]
    figure.legend(handles=below, loc="center", bbox_to_anchor=(0.5, 0.018), ncols=3)
    return figure


def show(ax: Any, surfaces: list[tuple[FactorSurface, str]], view: tuple[float, float]) -> None:
    """Draw surfaces in the unit cube, as one collection, as matplotlib sorts triangles only inside a collection."""
    corners = [surface.points[surface.triangles] for surface, _ in surfaces]
    faces = np.concatenate([shade(c, colour) for c, (_, colour) in zip(corners, surfaces, strict=True)])
    # edges in the same colour close the seams between triangles
    lines = {"facecolors": faces, "edgecolors": faces, "linewidths": 0.2, "rasterized": True}
    ax.add_collection3d(Poly3DCollection(np.concatenate(corners), **lines))
    ax.view_init(*view)
    ax.set(xlim=(0, 1), ylim=(0, 1), zlim=(0, 1), xlabel="110", ylabel="101", zlabel="011", box_aspect=(1, 1, 1))
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_ticks([0, 0.5, 1], ["0", "0.5", "1"])
        axis.set_pane_color("#FBFBFB")
        axis._axinfo["grid"].update(color="#E4E4E4", linewidth=0.5)
        axis.labelpad = -6
        axis.set_tick_params(pad=-2)


def shade(triangles: np.ndarray, colour: str) -> np.ndarray:
    """The colours of triangles, lighter if they face the light, from either side."""
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    light = np.array([0.35, 0.2, 0.9])
    facing = np.abs(normal @ (light / np.linalg.norm(light)))
    rgb = np.array(to_rgb(colour))
    tone = (0.55 + 0.45 * facing)[:, None]
    shaded = rgb * tone + 0.12 * (facing**3)[:, None] * (1 - rgb)
    return np.clip(shaded, 0, 1)
