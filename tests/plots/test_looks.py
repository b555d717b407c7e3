"""Figures for pages: sans type, no text over another, and a dark version with the same hues."""

from colorsys import rgb_to_hls

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.image import imread

from dpplearn.cli import main
from dpplearn.plots import saving
from dpplearn.plots.figures import factors
from dpplearn.plots.style import BLUE, ORANGE, VERMILION, look, style


def test_a_look_holds_inside_and_in_no_other_place():
    with look("page"), style():
        inside = factors.draw()
    outside = factors.draw()
    kind = [{text.get_family()[0] for text in figure.axes[0].texts} for figure in (inside, outside)]
    assert kind == [{"DejaVu Sans"}, {"STIXGeneral"}]
    with pytest.raises(ValueError, match="look must be"), look("poster"):
        pass


def test_wider_letters_do_not_run_into_each_other():
    with look("page"):
        figure = factors.draw()
        with style():
            figure.draw_without_rendering()
        boxes = [text.get_window_extent() for text in figure.axes[1].texts if text.get_text().strip()]
    rows = [(one, other) for i, one in enumerate(boxes) for other in boxes[i + 1 :]]
    assert not [1 for one, other in rows if one.shrunk(0.9, 0.9).overlaps(other.shrunk(0.9, 0.9))]


def test_dark_turns_lightness_round_and_keeps_hues():
    colours = np.array([[int(one[i : i + 2], 16) / 255 for i in (1, 3, 5)] for one in (BLUE, ORANGE, VERMILION)])
    turned = (saving.darkened(colours) - saving.NIGHT) / (1 - saving.NIGHT)
    for before, after in zip(colours, turned, strict=True):
        (h, light, s), (h2, light2, s2) = rgb_to_hls(*before), rgb_to_hls(*after)
        assert (h2, s2, light2) == pytest.approx((h, s, 1 - light))


def test_the_command_writes_both(tmp_path):
    arguments = [
        "figures",
        "factors",
        "--out",
        str(tmp_path),
        "--format",
        "png",
        "--dpi",
        "40",
        "--look",
        "page",
        "--dark",
    ]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    light, dark = (imread(tmp_path / f"factors{end}.png")[..., :3] for end in ("", "-dark"))
    assert light.shape == dark.shape
    assert light.mean() > 0.8
    assert dark.mean() < 0.3
    assert np.allclose(dark[0, 0], saving.NIGHT, atol=0.01)
