"""The example of a network finds what a linear model cannot, and the gallery quotes what it prints."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"-?\d+\.\d+")


def test_a_network_learns_quality_and_similarity(capsys):
    example = runpy.run_path(str(ROOT / "examples" / "learned_similarity.py"))
    example["main"]()
    found = capsys.readouterr().out
    linear, network, truth, quality, similarity = map(float, NUMBER.findall(found))
    assert linear + 2 < network < truth
    assert quality > 0.9
    assert similarity > 0.8
    quoted = re.search(r"learned_similarity\.py\n(.*?)^```", (ROOT / "docs" / "gallery.md").read_text(), re.M | re.S)[1]
    assert NUMBER.sub("#", quoted).split() == NUMBER.sub("#", found).split()
    assert [*map(float, NUMBER.findall(quoted))] == pytest.approx(
        [linear, network, truth, quality, similarity], abs=0.1
    )
