"""Figures as files: vector and PNG, the same bytes each time, each file whole or not there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.image import imread, imsave

from dpplearn._checks import FloatArray, check_choice
from dpplearn._io.atomic import replace_file
from dpplearn.plots import import_plots
from dpplearn.plots.figures import FORMATS, figure_names
from dpplearn.plots.style import style

NIGHT = np.array([0x1E, 0x20, 0x29]) / 255  # the ground of the docs' dark pages
# Without the date and matplotlib's version, so that a file changes only when the figure does.
METADATA: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}
NAMELESS: Any = METADATA["png"]  # matplotlib types it otherwise where an image is saved


def draw(name: str) -> Figure:
    """The figure of a name or of a number of the paper.

    Examples
    --------
    >>> [round(float(inches), 1) for inches in draw("geometry").get_size_inches()]
    [6.9, 4.1]
    """
    [name] = figure_names([name])
    figure: Figure = import_plots(f"dpplearn.plots.figures.{name}").draw()
    return figure


def save(
    figure: Figure,
    name: str,
    folder: str | os.PathLike[str],
    formats: Iterable[str] = FORMATS,
    dpi: float = 200,
    dark: bool = False,
) -> list[Path]:
    """Write a figure to folder/name.pdf, .svg and .png, and return the paths; dpi is of the PNG.

    With `dark`, name-dark.png is the PNG for pages that are dark.

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
        if dark:
            path = Path(folder) / f"{name}-dark.png"
            with replace_file(path, "wb") as file, BytesIO() as buffer:
                imsave(buffer, darkened(pixels(figure, dpi)), format="png", metadata=NAMELESS)
                file.write(buffer.getvalue())
            return [*paths.values(), path]
    return list(paths.values())


def pixels(figure: Figure, dpi: float) -> FloatArray:
    """What the figure looks like: red, green and blue of each pixel, from 0 to 1."""
    with BytesIO() as file:
        figure.savefig(file, format="png", dpi=dpi)
        file.seek(0)
        return np.asarray(imread(file), np.float64)[..., :3]


def darkened(rgb: FloatArray) -> FloatArray:
    """The same hues with lightness turned round: white to NIGHT, black to white.

    In HSL, lightness is (max + min) / 2, and c - lightness is all that hue and saturation say: c + 1 - (max + min) has
    the same of these and lightness 1 - (max + min) / 2.

    Examples
    --------
    >>> darkened(np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])).round(3)
    array([[0.118, 0.125, 0.161],
           [1.   , 1.   , 1.   ]])
    """
    turned = rgb + 1.0 - rgb.max(axis=-1, keepdims=True) - rgb.min(axis=-1, keepdims=True)
    return np.clip(NIGHT + (1.0 - NIGHT) * turned, 0.0, 1.0)


def check_folder(folder: str | os.PathLike[str]) -> Path:
    """Make a folder if need be, and try whether files can be written there."""
    if not os.fspath(folder):  # Path("") is the current folder
        raise ValueError("The folder for the figures must have a name, found an empty one. Give a folder.")
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"Cannot write figures to {path}: it is a file. Give a folder.")
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise OSError(f"Cannot write figures to {path}: {error.strerror}. Give another folder.") from error
    return path
