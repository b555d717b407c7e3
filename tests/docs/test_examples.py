"""Every example of the gallery runs as a script, draws its picture, and prints what the gallery quotes."""

import doctest
import importlib.util
import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
GALLERY = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"-?\d+\.?\d*")
QUOTED = re.compile(r"^\$ python examples/(\w+)\.py\n(.*?)^```", re.MULTILINE | re.DOTALL)
DRAWN = {name: text for name, text in QUOTED.findall(GALLERY) if name != "learned_similarity"}  # which needs torch


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Return what an example prints when it runs as a script that saves its picture."""

    def call(name, *options):
        picture = tmp_path / "picture.png"
        monkeypatch.syspath_prepend(EXAMPLES)  # as Python does for a script
        monkeypatch.setattr(sys, "argv", [f"{name}.py", "--save", str(picture), *options])
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        assert picture.read_bytes().startswith(b"\x89PNG")
        return capsys.readouterr().out

    return call


@pytest.mark.parametrize("name", DRAWN)
def test_an_example_prints_what_the_gallery_quotes(name, run):
    """The same words, and numbers that differ by no more than another BLAS makes."""
    quoted, text = DRAWN[name], run(name)
    assert NUMBER.sub("#", quoted).split() == NUMBER.sub("#", text).split()
    for expected, found in zip(NUMBER.findall(quoted), NUMBER.findall(text), strict=True):
        last_digit = 10.0 ** -len(expected.partition(".")[2])
        assert float(found) == pytest.approx(float(expected), rel=0.03, abs=5 * last_digit)


def test_weights_are_learned_back(run):
    text = run("learning_recovery", "--repeats", "4")  # the gallery quotes 200 repeats, which take minutes
    rows = re.findall(r"^\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+)% \| ([\d.]+) \|$", text, re.MULTILINE)
    T, dpp, scaled, held, logistic = zip(*(map(float, row) for row in rows), strict=True)
    assert T == (25, 50, 100, 200, 400)
    assert dpp[-1] < dpp[0] / 2
    assert all(0.6 < value < 1.2 for value in scaled)  # the error falls like 1 / sqrt(T)
    assert logistic[-1] > 3 * dpp[-1]
    assert sum(held) / 5 > 88


@pytest.mark.parametrize("name", ["mmr", "options", "../scripts/mathml"])
def test_docstrings(name, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["example.py"])
    spec = importlib.util.spec_from_file_location(Path(name).name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # not a module that an example imported
    spec.loader.exec_module(module)
    results = doctest.testmod(module)
    assert results.attempted > 0
    assert results.failed == 0


def test_examples_are_short_and_in_the_gallery():
    for path in EXAMPLES.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) < 80, f"{path.name} has 80 lines or more"
        assert text.startswith('"""'), f"{path.name} does not say what it shows"
        assert f'--8<-- "examples/{path.name}"' in GALLERY, f"{path.name} is not in the gallery"
