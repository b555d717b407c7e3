"""The example of a network finds what a linear model cannot, and the page of the gallery quotes it."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_network_learns_quality_and_similarity(capsys):
    example = runpy.run_path(str(ROOT / "examples" / "learned_similarity.py"))
    example["main"](sets=300, steps=120)
    linear, network, truth, quality, similarity = map(float, re.findall(r"-?\d+\.\d+", capsys.readouterr().out))
    assert linear + 0.8 < network < truth
    assert quality > 0.85
    assert similarity > 0.3
