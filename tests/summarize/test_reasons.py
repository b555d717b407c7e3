"""Why sentences are in a summary, and why others are not."""

import json

import numpy as np
import pytest

from dpplearn.summarize import Cluster, Document
from dpplearn.summarize.explain.summary import html_report


def test_explanations_add_up(bundled):
    summary = bundled.summarize(Cluster.example(), 60, "words")
    explanation = summary.explain()
    dpp = bundled.dpp(Cluster.example())
    assert [c.sentence for c in explanation.chosen] == list(summary.sentences)
    for c, i in zip(explanation.chosen, summary.subset, strict=True):
        assert c.quality == pytest.approx(np.exp(sum(c.contributions.values()) / 2))
        assert c.marginal == pytest.approx(dpp.marginals[i])
    qualities = [x.quality for x in explanation.best_left_out(None)]
    assert qualities == sorted(qualities, reverse=True)
    S = dpp.similarity
    sentences = list(summary.split.sentences)
    for x in explanation.best_left_out(None):
        i = sentences.index(x.sentence)
        L_Y = S[np.ix_(summary.subset, summary.subset)]
        covered = S[i, summary.subset] @ np.linalg.solve(L_Y, S[summary.subset, i])
        assert x.redundancy == pytest.approx(covered, abs=1e-9)
    json.dumps(summary.to_dict())
    assert "Left out" in str(explanation)


def test_every_sentence_has_a_reason_and_every_view_shows_it(bundled):
    """One record: what is listed is a part of it, by one rule."""
    cluster = Cluster.example()
    for budget, options in ((60, {}), (200, {"decoder": "greedy"}), (100, {"include": [40], "exclude": [0, 21]})):
        summary = bundled.summarize(cluster, budget, "words", **options)
        explanation = summary.explain()
        assert all(summary.why(x.number) == x for x in explanation.chosen)
        assert [x.redundancy for x in explanation.redundant] == sorted(
            (x.redundancy for x in explanation.redundant), reverse=True
        )
        assert explanation.to_dict()["left_out"] == [x.to_dict() for x in explanation.best_left_out()]
        assert len(explanation.to_dict(None)["left_out"]) == len(explanation.best_left_out(None))
        page, table = html_report(summary), str(explanation)
        for x in explanation.best_left_out():
            assert x.reason in page
            assert x.reason in table
        assert page.count('<span class="s" data-state="again"') == len(explanation.redundant)
        C = summary.split.C[np.ix_(summary.subset, summary.subset)][np.triu_indices(summary.subset.size, 1)]
        assert explanation.as_a_set.alikeness.mean == pytest.approx(C.mean())
        assert explanation.as_a_set.alikeness.max == C.max()


def test_report_is_a_page_that_shows_text_as_text(bundled):
    nasty = Cluster(
        [Document("<b>", "A <script>alert(1)</script> & co fell on Monday. Prices rose.", title="<i>x</i>")]
    )
    page = html_report(bundled.summarize(nasty, 20, "words"))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "&lt;i&gt;x&lt;/i&gt;" in page
    assert '<span class="s" data-state="in"' in page
    assert "http" not in page
