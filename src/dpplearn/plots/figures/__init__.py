"""The figures of the paper by name, as `dpplearn figures` draws them.

A figure is a module here with a function `draw() -> Figure`, decorated with `style.style()`, a line in FIGURES, and a
section in docs/figures.md. The module, and matplotlib, are imported only when the figure is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from dpplearn._checks import check_choice
from dpplearn._io.atomic import replace_file
from dpplearn.plots import import_plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {  # module: line for --help, in the order of the paper's numbers
    "points": "A DPP's points beside independent ones (Figure 1).",
    "geometry": "Volumes that vectors span (Figure 2).",
    "factors": "Factors of three items in an MRF and in a DPP (Figure 3).",
    "realizable": "The factors that an MRF and a DPP can have (Figure 4).",
    "cluster": "A cluster, a reference summary and an extract (Figure 5).",
}
FORMATS: dict[str, dict[str, None]] = {  # no date and version, so that a file changes only when its figure does
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


def figure_names(names: Iterable[str] = ()) -> list[str]:
    """The names of figures given by name or number, each once; without names, all figures.

    >>> figure_names(["2", "points", "geometry"])
    ['geometry', 'points']
    """
    numbered = dict(zip("12345", FIGURES, strict=True))
    figures = [numbered.get(name, name) for name in names]
    for name in figures:
        if name not in FIGURES:
            listed = ", ".join(f"{name} ({number})" for number, name in numbered.items())
            raise ValueError(f"There is no figure {name!r}. The figures are {listed}.")
    return list(dict.fromkeys(figures)) or list(FIGURES)


def draw(name: str) -> Figure:
    """The figure with a name, or a number of the paper."""
    [name] = figure_names([name])
    figure: Figure = import_plots(f"dpplearn.plots.figures.{name}").draw()
    return figure


def save(
    figure: Figure, name: str, folder: str | Path, formats: Iterable[str] = tuple(FORMATS), dpi: float = 200
) -> list[Path]:
    """Write a figure to folder/name.pdf, .svg and .png (with `dpi`), and return the paths; no file is left half."""
    from dpplearn.plots.style import style

    Path(folder).mkdir(parents=True, exist_ok=True)
    paths = {kind: Path(folder) / f"{name}.{check_choice(kind, 'formats', tuple(FORMATS))}" for kind in formats}
    with style():  # ticks follow the settings at the moment of drawing
        if figure.get_layout_engine() is not None:  # only once, because each layout moves square axes a little
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
        for kind, path in paths.items():
            with replace_file(path, "wb") as file:
                figure.savefig(file, format=kind, metadata=FORMATS[kind], dpi=dpi)
    return list(paths.values())
