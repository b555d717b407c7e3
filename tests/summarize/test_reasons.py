"""Why sentences are in a summary, and why others are not."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dpplearn.summarize import Cluster, Document, Summarizer
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


def test_coverage_by_sentences_that_repeat_each_other_is_that_of_one_of_them():
    cluster = Cluster.from_texts(
        ["It sank ten boats. Rain fell on the coast.", "It sank ten boats. Ten boats of the coast sank."]
    )
    summary = Summarizer.load().summarize(cluster, 3, "sentences")
    first, second = (i for i, text in enumerate(summary.split.texts) if text == "It sank ten boats.")
    rest = np.setdiff1d(np.arange(4), [first, second])
    both, one = (
        [
            x.redundancy
            for x in replace(summary, order=np.array(subset)).explain().best_left_out(None)
            if x.number in rest
        ]
        for subset in ([first, second], [first])
    )
    assert both == pytest.approx(one, abs=1e-9)
    assert 0.0 < min(both) < max(both) < 1.0


def test_repeats_of_the_chosen_count_as_covered(bundled):
    storm = "The storm closed the bridge over the river on Monday."
    names = ["school", "church", "museum", "hotel", "harbour", "theatre", "library", "bakery"]
    texts = [f"A {name} opened its {name} hall. Helpers of the {name} were thanked." for name in names]
    texts = [f"{storm} {text}" if i < 4 else text for i, text in enumerate(texts)]
    explanation = bundled.summarize(Cluster.from_texts(texts), 12, "words", include=[0]).explain()
    assert [c.sentence.text for c in explanation.chosen] == [storm]
    assert explanation.as_a_set.covers.documents == (0, 1, 2, 3)
    assert explanation.as_a_set.leaves_out.documents == (4, 5, 6, 7)
    again = [x for x in explanation.best_left_out(None) if x.code == "same-words" and x.by]
    assert len(again) == 3
    assert {x.number for x in again} <= {x.number for x in explanation.redundant}
