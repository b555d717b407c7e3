"""One style for every figure: colours that the colour-blind can tell apart, fonts that come with matplotlib.

A figure is made inside `style()`, which restores the user's own settings at its end, by `new_figure`:

    @style()                                    # or: with style(): ...
    def draw() -> Figure:
        figure, (left, right) = new_figure(TWO_COLUMNS, 2.4, columns=2)
        left.plot(x, y, color=BLUE)
        panel_title(left, "a", "What the panel shows")
        return figure

Widths are those of one and of two columns of a page, in inches; text is 8 to 9 points at that size.
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

# Okabe and Ito's palette: told apart with any of the common colour deficiencies.
BLUE = "#0072B2"
VERMILION = "#D55E00"
GREEN = "#009E73"
ORANGE = "#E69F00"
SKY = "#56B4E9"
PURPLE = "#CC79A7"
BLACK = "#000000"
GREY = "#8A8A8A"  # beside the palette: what is not the point of the figure
LIGHT = "#D9D9D9"
PALETTE = (BLUE, VERMILION, GREEN, ORANGE, SKY, PURPLE, BLACK)

# Lightness grows steadily, so the maps read in grey too; the second is for signed values, white at zero.
SEQUENTIAL = LinearSegmentedColormap.from_list("dpplearn", ["#FFFFFF", "#B7D7EA", "#4C9CCB", BLUE, "#003A5C"])
DIVERGING = LinearSegmentedColormap.from_list("dpplearn-signed", ["#7A3600", VERMILION, "#FFFFFF", BLUE, "#003A5C"])

ONE_COLUMN, TWO_COLUMNS = 3.35, 6.9  # inches
TITLE_SIZE = 9.5  # points

RC_SETTINGS: Any = {  # Any: matplotlib types the keys, others in each release
    "font.family": "STIXGeneral",  # a Times-like face with all the mathematics, inside matplotlib itself
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
    "text.hinting": "none",  # letters stand in the PNG where they stand in the PDF
    "pdf.fonttype": 42,  # TrueType: text stays text
    "svg.fonttype": "path",  # a reader of the SVG need not have the font
    "svg.hashsalt": "dpplearn",  # the same figure twice gives the same file
}


SCALE = 1.0  # of the sizes of new figures; those for pages on the web, which have no columns to fit, may be larger


@contextmanager
def style() -> Iterator[None]:
    """Matplotlib's defaults and RC_SETTINGS, as context or decorator; afterwards the user's own settings again."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # a matplotlibrc or an earlier plt.style.use changes no figure of ours
        matplotlib.rcParams.update(RC_SETTINGS)
        yield


def new_figure(
    width: float = ONE_COLUMN, height: float = 2.4, *, rows: int = 1, columns: int = 1, **subplots: Any
) -> tuple[Figure, Any]:
    """A figure of `width` by `height` inches and its axes, as `Figure.subplots` returns them.

    Examples
    --------
    >>> with style():
    ...     figure, (left, right) = new_figure(TWO_COLUMNS, 2.0, columns=2, sharey=True)
    >>> figure.get_size_inches()
    array([6.9, 2. ])
    """
    figure = Figure(figsize=(SCALE * width, SCALE * height), layout="constrained")
    return figure, figure.subplots(rows, columns, **subplots)


def panel_title(ax: Axes, letter: str, text: str = "") -> None:
    """Title at the left, with the panel's letter before it: "(a) text"."""
    ax.set_title(f"({letter})  {text}".rstrip(), loc="left")
