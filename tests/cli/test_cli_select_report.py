"""The page of `dpplearn select --report`: what it compares, what it says, and that it needs nothing else."""

import re
from functools import partial

import numpy as np
import pytest

import commands
from commands import write_lines
from dpplearn import diversify, diversity_of
from dpplearn.cli import items

pytest.importorskip("matplotlib")

from dpplearn.plots import report

run, output, refusal = (partial(call, "select") for call in (commands.run, commands.output, commands.refusal))


@pytest.fixture
def data(tmp_path, rng):
    """Eight topics, of which one has half of the items and the best scores."""
    topic = rng.choice(8, 400, p=[0.5, 0.2, 0.1, 0.06, 0.05, 0.04, 0.03, 0.02])
    E = rng.standard_normal((8, 16))[topic] + 0.3 * rng.standard_normal((400, 16))
    scores = rng.random(400) + (topic == 0)
    np.save(tmp_path / "items.npy", E)
    np.save(tmp_path / "scores.npy", scores)
    return E, scores


@pytest.fixture
def page(tmp_path, data):  # noqa: ARG001  # which writes the files
    """The report of a choice."""

    def made(*options):
        output(tmp_path / "items.npy", *options, "--report", tmp_path / "r.html")
        return (tmp_path / "r.html").read_text()

    return made


def cells(page):
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', page)
    return {head: re.findall("<td>(.*?)</td>", row) for head, row in rows}


def test_the_choice_beside_the_best_scores_and_random_items(data, page, tmp_path):
    E, scores = data
    asked = ("-k", 8, "--score", tmp_path / "scores.npy")
    html = page(*asked)
    table = cells(html)
    for place, Y in enumerate((diversify(E, scores, k=8).subset, np.argsort(-scores)[:8])):
        measure = diversity_of(E, Y)
        values = (measure.effective, measure.closest, measure.coverage)
        rows = ("effective number of items", "largest similarity inside", "worst coverage")
        assert [table[row][place] for row in rows] == [f"{x:.2f}" for x in values]
    chosen, top, random = table["effective number of items"]
    mean, spread = map(float, random.split(" ± "))
    draws = [np.random.default_rng(k).choice(400, 8, replace=False) for k in range(300)]
    assert mean == pytest.approx(np.mean([diversity_of(E, Y).effective for Y in draws]), abs=0.3)
    assert float(top) < mean - spread < mean + spread < float(chosen)
    assert "less diverse than random items" not in html
    assert "less diverse than random items" in page(*asked, "--diversity", 0)
    outside = [url for url in re.findall(r'(?:src|href)="([^"#]+)', html) if not url.startswith("data:")]
    assert outside == []
    assert page(*asked) == html


def test_where_the_rank_ends(page):
    html = page("-k", 40)
    assert "16 directions. Beyond as many items no item has a new direction, and nearness decides." in html
    assert all(len(row) == 2 for row in cells(html).values())  # equal scores: none is best


def test_directions_are_principal_ones(data):
    """Distances in the plane are those of the two principal components."""
    E, _ = data
    compared = report.compare(diversify(E, k=6))
    (points,), share = report.directions(compared.items, [np.arange(400)], np.random.default_rng(0))
    U = E / np.linalg.norm(E, axis=1, keepdims=True)
    _, s, V = np.linalg.svd(U - U.mean(axis=0), full_matrices=False)
    plane = (U - U.mean(axis=0)) @ V[:2].T
    assert np.abs(points) == pytest.approx(np.abs(plane), abs=1e-9)
    assert share == pytest.approx((s[:2] ** 2).sum() / (s**2).sum())


def test_many_items_are_sampled_and_those_beyond_memory_not_compared(page, tmp_path, monkeypatch):
    for name in ("MEASURED", "SHOWN", "ANCHORS"):
        monkeypatch.setattr(report, name, 60)
    assert re.search(r"measured among \d\d+ of the items", page("-k", 8, "--score", tmp_path / "scores.npy"))
    monkeypatch.setattr(items, "SMALLEST", 100)
    html = page("-k", 8, "--work", tmp_path / "kept", "--jobs", 1)
    assert "What each item added" in html
    assert "<table>" not in html
    assert "a name that ends in .html" in refusal(tmp_path / "items.npy", "--report", tmp_path / "r.svg")


@pytest.mark.parametrize("options", [("-k", 1), ("-k", 0), ("-k", 5, "--decoder", "local"), ("-k", "auto")])
def test_texts_and_short_choices(options, tmp_path):
    """Names of files and groups are text: two dollars would else be read as mathematics."""
    texts = ["apple pie", "apple tart", "blue sea", "a red <b>fox</b>", "", "apple pie", "the sea & the sky"]
    rows = [{"text": text, "kind": ["costs $5_{ and $7", "free"][i % 2]} for i, text in enumerate(texts)]
    path = write_lines(tmp_path / "<a> & b.jsonl", rows)
    output(path, *options, "--group", "kind", "--report", tmp_path / "r.html")
    html = (tmp_path / "r.html").read_text()
    assert "&lt;a&gt; &amp; b.jsonl" in html
    assert "<a> &" not in html
