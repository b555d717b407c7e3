"""Figures for pages: sans type, and no text over another."""

import sys
from pathlib import Path

from dpplearn.plots.figures import factors
from dpplearn.plots.style import style

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from page_look import page_look


def test_a_look_holds_inside_and_in_no_other_place():
    with page_look(), style():
        inside = factors.draw()
    outside = factors.draw()
    kind = [{text.get_family()[0] for text in figure.axes[0].texts} for figure in (inside, outside)]
    assert kind == [{"DejaVu Sans"}, {"STIXGeneral"}]


def test_wider_letters_do_not_run_into_each_other():
    with page_look():
        figure = factors.draw()
        with style():
            figure.draw_without_rendering()
        boxes = [text.get_window_extent() for text in figure.axes[1].texts if text.get_text().strip()]
    rows = [(one, other) for i, one in enumerate(boxes) for other in boxes[i + 1 :]]
    assert not [1 for one, other in rows if one.shrunk(0.9, 0.9).overlaps(other.shrunk(0.9, 0.9))]
