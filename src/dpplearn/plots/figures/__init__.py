"""The figures of the paper, by name: `dpplearn figures` draws them.

A figure is a module here with `def draw() -> Figure`, decorated with `style.style()`, a line in FIGURES, and a section
in docs/figures.md. The module is imported, and matplotlib with it, when the figure is drawn. Files are vector and PNG,
the same bytes each time, each whole or not there.
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

# name, which is that of the module: one line for --help, in the order of the paper's numbers
FIGURES = {
    "points": "A DPP's points beside independent ones (Figure 1).",
    "geometry": "Volumes that vectors span, quality, similarity (Figure 2).",
    "factors": "Factors of three items in an MRF and in a DPP (Figure 3).",
    "realizable": "The factors that each of the two can have (Figure 4).",
    "cluster": "A cluster, a reference summary and an extract (Figure 5).",
}

FORMATS: dict[str, dict[str, None]] = {  # without date and version: a file changes only when its figure does
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


def figure_names(names: Iterable[str] = ()) -> list[str]:
    """The figures meant by names and by numbers of the paper, each once, in the order given; none means all.

    Examples
    --------
    >>> figure_names(["2", "points", "geometry"])
    ['geometry', 'points']
    """
    numbered = dict(zip("12345", FIGURES, strict=True))
    found = [numbered.get(name, name) for name in names]
    for name in found:
        if name not in FIGURES:
            known = ", ".join(f"{name} ({number})" for number, name in numbered.items())
            raise ValueError(f"There is no figure {name!r}. The figures are {known}.")
    return list(dict.fromkeys(found)) or list(FIGURES)


def draw(name: str) -> Figure:
    """The figure of a name or of a number of the paper."""
    [name] = figure_names([name])
    figure: Figure = import_plots(f"dpplearn.plots.figures.{name}").draw()
    return figure


def save(
    figure: Figure, name: str, folder: str | Path, formats: Iterable[str] = tuple(FORMATS), dpi: float = 200
) -> list[Path]:
    """Write a figure to folder/name.pdf, .svg and .png, and return the paths; dpi is of the PNG.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in save(draw("2"), "geometry", folder, ["svg"])]
    ['geometry.svg']
    """
    from dpplearn.plots.style import style

    Path(folder).mkdir(parents=True, exist_ok=True)
    paths = {kind: Path(folder) / f"{name}.{check_choice(kind, 'formats', tuple(FORMATS))}" for kind in formats}
    with style():  # matplotlib makes ticks when it draws, by the settings of that moment
        if figure.get_layout_engine() is not None:  # laid out once: each time moves square axes a little
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
        for kind, path in paths.items():
            with replace_file(path, "wb") as file:
                figure.savefig(file, format=kind, metadata=FORMATS[kind], dpi=dpi)
    return list(paths.values())
