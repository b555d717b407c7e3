"""Gives figures the look of the docs' pages: a sans-serif font, a little smaller, on a larger figure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from dpplearn.plots import style

PAGE = {
    "font.family": "DejaVu Sans",
    "mathtext.fontset": "dejavusans",
    "font.size": 7.8,
    "axes.titlesize": 8.2,
    "axes.labelsize": 7.8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
}


@contextmanager
def page_look() -> Iterator[None]:
    """Figures drawn inside this context have the look of pages."""
    with mock.patch.dict(style.RC_SETTINGS, PAGE), mock.patch.object(style, "SCALE", 1.2):
        yield
