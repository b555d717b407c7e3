"""Figures as files: vector and PNG, the same bytes each time, each file whole or not there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from matplotlib.figure import Figure

from dpplearn._checks import check_choice
from dpplearn._io.atomic import replace_file
from dpplearn.plots import import_plots
from dpplearn.plots.figures import FORMATS, figure_names
from dpplearn.plots.style import style

# Without the date and matplotlib's version, so that a file changes only when the figure does.
METADATA: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


def draw(name: str) -> Figure:
    """The figure of a name or of a number of the paper."""
    [name] = figure_names([name])
    figure: Figure = import_plots(f"dpplearn.plots.figures.{name}").draw()
    return figure


def save(
    figure: Figure,
    name: str,
    folder: str | os.PathLike[str],
    formats: Iterable[str] = FORMATS,
    dpi: float = 200,
) -> list[Path]:
    """Write a figure to folder/name.pdf, .svg and .png, and return the paths; dpi is of the PNG.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in save(draw("2"), "geometry", folder, ["svg"])]
    ['geometry.svg']
    """
    paths = {kind: Path(folder) / f"{name}.{check_choice(kind, 'formats', FORMATS)}" for kind in formats}
    with style():  # matplotlib makes ticks when it draws, by the settings of that moment
        if figure.get_layout_engine() is not None:  # laid out once: each time moves square axes a little
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
        for kind, path in paths.items():
            with replace_file(path, "wb") as file:
                figure.savefig(file, format=kind, metadata=METADATA[kind], dpi=dpi)
    return list(paths.values())


def check_folder(folder: str | os.PathLike[str]) -> Path:
    """Make a folder if need be, and try whether files can be written there."""
    if not os.fspath(folder):  # Path("") is the current folder
        raise ValueError("The folder to write to must have a name, found an empty one. Give a folder.")
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise OSError(f"Cannot write to the folder {path}: {error.strerror}. Give another folder.") from error
    return path
