"""The page of `dpplearn select --report`: what it compares, what it says, and that it needs nothing else."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

from dpplearn import diversify, diversity_of
from dpplearn.cli import items, main

pytest.importorskip("matplotlib")

from dpplearn.plots import report


def run(*arguments):
    return CliRunner().invoke(main, ["select", *map(str, arguments)])


@pytest.fixture
def data(tmp_path, rng):
    """Eight topics, of which one has half of the items and the best scores."""
    topic = rng.choice(8, 400, p=[0.5, 0.2, 0.1, 0.06, 0.05, 0.04, 0.03, 0.02])
    E = rng.standard_normal((8, 16))[topic] + 0.3 * rng.standard_normal((400, 16))
    scores = rng.random(400) + (topic == 0)
    np.save(tmp_path / "items.npy", E)
    np.save(tmp_path / "scores.npy", scores)
    return E, scores


def cells(page):
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', page)
    return {head: re.findall("<td>(.*?)</td>", row) for head, row in rows}


def test_the_choice_beside_the_best_scores_and_random_items(data, tmp_path):
    E, scores = data
    found = run(tmp_path / "items.npy", "-k", 8, "--score", tmp_path / "scores.npy", "--report", tmp_path / "r.html")
    assert found.exit_code == 0, found.output
    page = (tmp_path / "r.html").read_text()
    table = cells(page)
    for place, Y in enumerate((diversify(E, scores, k=8).subset, np.argsort(-scores)[:8])):
        measure = diversity_of(E, Y)
        values = (measure.effective, measure.closest, measure.coverage)
        assert [row[place] for row in table.values()] == [f"{x:.2f}" for x in values]
    assert re.search(r"different items, in effect +\d\.\d\d +\d\.\d\d +\d\.\d\d", found.stderr)
    chosen, top, random = map(float, table["different items, in effect"])
    assert top < random < chosen
    assert "less diverse than random items" not in page
    for heading in ("What was chosen among what was there", "What each item added", "How well the others are covered"):
        assert re.search(f"<h2>{heading}</h2>.*?<figcaption><p>.{{60,}}", page, re.DOTALL), heading
    assert "16 directions, so that the rank would end after as many items" in page
    assert "Nine of ten have one of similarity" in page
    outside = [url for url in re.findall(r'(?:src|href)="([^"#]+)', page) if not url.startswith("data:")]
    assert outside == []
    again = run(tmp_path / "items.npy", "-k", 8, "--score", tmp_path / "scores.npy", "--report", tmp_path / "s.html")
    assert again.stdout == found.stdout
    assert (tmp_path / "s.html").read_text() == page


@pytest.mark.usefixtures("data")
def test_a_choice_by_its_scores_is_told(tmp_path):
    options = ("-k", 8, "--score", tmp_path / "scores.npy", "--diversity", 0, "--report", tmp_path / "r.html")
    run(tmp_path / "items.npy", *options)
    assert "less diverse than random items" in (tmp_path / "r.html").read_text()


@pytest.mark.usefixtures("data")
def test_where_the_rank_ends(tmp_path):
    run(tmp_path / "items.npy", "-k", 40, "--report", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "16 directions: beyond as many items none is new by its direction, and near items are told apart." in page
    assert all(len(row) == 2 for row in cells(page).values())  # equal scores: none is best


def test_directions_are_principal_ones(data):
    """Distances in the plane are those of the two principal components."""
    E, _ = data
    chosen = diversify(E, k=6)
    compared = report.compare(chosen)
    (points,), share = report.directions(compared.items, [np.arange(400)], np.random.default_rng(0))
    U = E / np.linalg.norm(E, axis=1, keepdims=True)
    _, s, V = np.linalg.svd(U - U.mean(axis=0), full_matrices=False)
    plane = (U - U.mean(axis=0)) @ V[:2].T
    assert np.abs(points) == pytest.approx(np.abs(plane), abs=1e-9)
    assert share == pytest.approx((s[:2] ** 2).sum() / (s**2).sum())


@pytest.mark.usefixtures("data")
def test_many_items_are_sampled(tmp_path, monkeypatch):
    for name in ("MEASURED", "SHOWN", "ANCHORS"):
        monkeypatch.setattr(report, name, 60)
    found = run(tmp_path / "items.npy", "-k", 8, "--score", tmp_path / "scores.npy", "--report", tmp_path / "r.html")
    assert found.exit_code == 0, found.output
    assert re.search(r"All is measured among \d\d+ of the items", (tmp_path / "r.html").read_text())


@pytest.mark.parametrize("options", [("-k", 1), ("-k", 0), ("-k", 5, "--decoder", "local"), ("-k", "auto")])
def test_texts_and_short_choices(options, tmp_path):
    texts = ["apple pie", "apple tart", "blue sea", "a red <b>fox</b>", "", "apple pie", "the sea & the sky"]
    path = tmp_path / "<a> & b.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    found = run(path, *options, "--report", tmp_path / "r.html")
    assert found.exit_code == 0, found.output
    page = (tmp_path / "r.html").read_text()
    assert "&lt;a&gt; &amp; b.jsonl" in page
    assert "<a> &" not in page


@pytest.mark.usefixtures("data")
def test_items_beyond_memory_and_other_names(tmp_path, monkeypatch):
    monkeypatch.setattr(items, "SMALLEST", 100)
    work = ("--work", tmp_path / "kept", "--jobs", 1)
    found = run(tmp_path / "items.npy", "-k", 8, *work, "--report", tmp_path / "r.html")
    assert found.exit_code == 0, found.output
    page = (tmp_path / "r.html").read_text()
    assert "How well the others are covered" in page
    assert "<table>" not in page
    assert "a name that ends in .html" in run(tmp_path / "items.npy", "--report", tmp_path / "r.svg").stderr
