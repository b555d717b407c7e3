"""Every example of the gallery runs as `python examples/x.py`, and prints what the gallery says of it."""

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


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """What an example prints, run as a script that saves its picture."""

    def call(name, *options):
        picture = tmp_path / "picture.png"
        monkeypatch.syspath_prepend(EXAMPLES)  # as Python does for a script
        monkeypatch.setattr(sys, "argv", [f"{name}.py", "--save", str(picture), *options])
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        assert picture.read_bytes().startswith(b"\x89PNG")
        text = capsys.readouterr().out
        if not options:
            assert_quoted(name, text)
        return text

    return call


def assert_quoted(name, text):
    """docs/gallery.md shows this output: the same words, and numbers that differ by no more than another BLAS makes."""
    quoted = re.search(rf"^\$ python examples/{name}\.py\n(.*?)^```", GALLERY, re.MULTILINE | re.DOTALL)[1]
    assert NUMBER.sub("#", quoted).split() == NUMBER.sub("#", text).split()
    for old, new in zip(NUMBER.findall(quoted), NUMBER.findall(text), strict=True):
        last_digit = 10.0 ** -len(old.partition(".")[2])
        assert float(new) == pytest.approx(float(old), rel=0.03, abs=5 * last_digit)


def numbers(text, line):
    """The numbers of the line that starts with these words."""
    found = next(row for row in text.splitlines() if row.startswith(line))
    return [float(x) for x in NUMBER.findall(found.removeprefix(line))]


def test_points_of_a_dpp_keep_apart(run):
    apart, independent = (float(x) for x in re.findall(r"^0\.\d+", run("points_in_the_plane"), re.MULTILINE))
    assert apart > 1.2 * independent
    assert independent == pytest.approx(0.05, rel=0.15)  # of 100 points in a unit square: 1 / (2 sqrt(100)), and edges


def test_albums_show_more_kinds_and_the_price_is_told(run):
    text = run("photo_album")
    sharpest, mmr, dpp = (numbers(text, name) for name in ("sharpest", "MMR", "DPP"))
    assert dpp[0] > mmr[0] > sharpest[0] + 1
    assert sharpest[2] > mmr[2] > dpp[2] > 80


def test_the_dpp_of_sensors_is_nearer_than_mean_field(run):
    text = run("quiet_sensors")
    (_, truth), dpp, mean = (numbers(text, name) for name in ("log Z of", "DPP ", "mean field"))
    assert truth - 0.2 < dpp[0] < truth + 0.05
    assert mean[0] < truth - 1.0
    assert 3 * dpp[1] < mean[1]
    assert "DPP-like: True" in text
    assert numbers(text, "best set")[1] > numbers(text, "all good")[1] + 10


def test_meanings_of_a_query_are_shown(run):
    text = run("ambiguous_query")
    by_score, mmr, dpp = (numbers(text, name) for name in ("by score", "MMR", "DPP"))
    assert dpp[0] > by_score[0] + 15
    assert abs(dpp[0] - mmr[0]) < 2 * (dpp[1] + mmr[1])  # level: the gallery claims no more


def test_contexts_hold_more_facts(run):
    text = run("retrieval_context")
    by_score, mmr, greedy, consensus = (numbers(text, name) for name in ("by score", "MMR", "DPP, greedy", "DPP, cons"))
    assert all(a < b for a, b in zip(by_score, greedy, strict=True))
    assert all(a < b for a, b in zip(greedy, consensus, strict=True))
    assert sum(consensus) >= sum(mmr)


def test_batches_teach_more_in_the_first_rounds(run):
    text = run("active_learning")
    random, uncertain, dpp = (numbers(text, name) for name in ("random", "least certain", "DPP  "))
    assert random[0] == uncertain[0] == dpp[0]  # the same start
    assert dpp[2] > uncertain[2] + 2
    assert all(a >= b for a, b in zip(dpp, uncertain, strict=True))
    assert all(a >= b for a, b in zip(uncertain, random, strict=True))


def test_weights_are_learned_back(run):
    rows = re.findall(r"^\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+)% \| ([\d.]+) \|$", run(
        "learning_recovery", "--repeats", "4"), re.MULTILINE)  # fmt: skip
    T, dpp, scaled, held, logistic = zip(*(map(float, row) for row in rows), strict=True)
    assert T == (25, 50, 100, 200, 400)
    assert dpp[-1] < dpp[0] / 2
    assert all(0.6 < value < 1.2 for value in scaled)  # the error falls like 1 / sqrt(T)
    assert logistic[-1] > 3 * dpp[-1]
    assert sum(held) / 5 > 88


def test_attraction_is_found_in_baskets(run):
    text = run("shopping_baskets")
    pairs, symmetric, nonsymmetric = (
        numbers(text, f"{name} ranks") for name in ("pairs       ", "symmetric   ", "nonsymmetric")
    )
    assert pairs[0] > nonsymmetric[0] > symmetric[0] + 5  # the gallery says so
    assert nonsymmetric[1] > symmetric[1] + 0.2
    assert "symmetric: instead of tea coffee" in text
    assert "with tea nothing" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--save", "nowhere/x.png"], "the folder nowhere does not exist"),
        (["--save", "x.doc"], "must end in .png, .pdf, .svg, found x.doc"),
        (["--repeats", "0"], "--repeats must be 1 or more, found 0"),
    ],
)
def test_bad_options_stop_before_the_work(options, message, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setattr(sys, "argv", ["learning_recovery.py", *options])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_path(str(EXAMPLES / "learning_recovery.py"), run_name="__main__")
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["mmr", "options", "../scripts/mathml"])
def test_docstrings(name, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["example.py"])
    spec = importlib.util.spec_from_file_location(Path(name).name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # not the one that an example imported
    spec.loader.exec_module(module)
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


def test_examples_are_short_and_say_what_they_show():
    for path in EXAMPLES.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) < 80, f"{path.name} has 80 lines or more"
        assert text.startswith('"""'), f"{path.name} does not say what it shows"
        assert f'--8<-- "examples/{path.name}"' in GALLERY, f"{path.name} is not in the gallery"
