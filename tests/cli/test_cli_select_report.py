"""The page of `dpplearn select --report`: what it compares, what it says, and that it needs nothing else."""

import re
from functools import partial

import numpy as np
import pytest

import commands
from commands import write_lines
from dpplearn import diversify, diversity_of

pytest.importorskip("matplotlib")


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
