"""One style for all figures: colours that the colour-blind can tell apart, and fonts that come with matplotlib.

Make a figure with `new_figure` inside `style()`, as a decorator or in a `with` block. Widths are those of one and of
two columns of a page, in inches, at which text has 8 to 9 points.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler

# Okabe and Ito's palette, for the common colour deficiencies
BLUE = "#0072B2"
VERMILION = "#D55E00"
GREEN = "#009E73"
ORANGE = "#E69F00"
SKY = "#56B4E9"
PURPLE = "#CC79A7"
BLACK = "#000000"
GREY = "#8A8A8A"  # not of the palette, for what is in the background
LIGHT = "#D9D9D9"
PALETTE = (BLUE, VERMILION, GREEN, ORANGE, SKY, PURPLE, BLACK)

# maps of steady lightness, which can be read in grey; the second is for signed values, with white at zero
SEQUENTIAL = LinearSegmentedColormap.from_list("dpplearn", ["#FFFFFF", "#B7D7EA", "#4C9CCB", BLUE, "#003A5C"])
DIVERGING = LinearSegmentedColormap.from_list("dpplearn-signed", ["#7A3600", VERMILION, "#FFFFFF", BLUE, "#003A5C"])

ONE_COLUMN, TWO_COLUMNS = 3.35, 6.9  # inches
TITLE_SIZE = 9.5  # points

RC_SETTINGS: Any = {  # Any, because the keys that matplotlib types differ between releases
    "font.family": "STIXGeneral",  # like Times, with mathematics, and part of matplotlib
    "mathtext.fontset": "stix",
    "font.size": 9,
    "axes.titlesize": TITLE_SIZE,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.prop_cycle": cycler(color=PALETTE),
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "patch.linewidth": 0.6,
    "text.hinting": "none",  # letters have the same places in PNG and PDF
    "pdf.fonttype": 42,  # TrueType: text stays text
    "svg.fonttype": "path",  # a reader of the SVG need not have the font
    "svg.hashsalt": "dpplearn",  # the same figure gives the same file
}
SCALE = 1.0  # of the sizes of new figures; pages on the web, which have no columns, may set it higher


@contextmanager
def style() -> Iterator[None]:
    """Use matplotlib's defaults and RC_SETTINGS, and restore the user's settings afterwards."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # so that no matplotlibrc or plt.style.use changes our figures
        matplotlib.rcParams.update(RC_SETTINGS)
        yield


def new_figure(
    width: float = ONE_COLUMN, height: float = 2.4, *, rows: int = 1, columns: int = 1, **subplots: Any
) -> tuple[Figure, Any]:
    """A figure of `width` by `height` inches and its axes, as `Figure.subplots` returns them."""
    figure = Figure(figsize=(SCALE * width, SCALE * height), layout="constrained")
    return figure, figure.subplots(rows, columns, **subplots)


def panel_title(ax: Axes, letter: str, text: str = "") -> None:
    """Set a title at the left, with the letter of the panel: "(a) text"."""
    ax.set_title(f"({letter})  {text}".rstrip(), loc="left")
