"""Summaries about a question: relevance, what it adds to quality, and that it finds the right documents."""

from functools import partial

import numpy as np
import pytest

from dpplearn.summarize import Cluster, Document, summarize
from dpplearn.summarize import summarizer as summarizer_module
from dpplearn.summarize.model import prepared as first
from dpplearn.summarize.model.about import (
    FAR,
    ONWARD,
    REASON,
    STRENGTH,
    WALK_STEPS,
    asked_words,
    direct_relevance,
    matching_words,
    spread_relevance,
)
from dpplearn.summarize.model.tfidf import Numbered


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("the cost of a new spillway", "would have cost 14 million"),
        ("How many residents had to leave?", "6,200 residents"),
        ("damages, insured losses", "insurers said"),
        ("Ruth Calloran", "Ruth Calloran"),
        ("lake levels", "level of the lake"),
    ],
)
def test_a_summary_of_the_example_answers(bundled, question, said):
    found = bundled.summarize(Cluster.example(), 60, "words", about=question)
    assert said in found.text
    assert 0 < found.length <= 60
    assert not found.note


def test_a_question_moves_quality_and_is_a_reason(bundled):
    prepared = bundled.prepare(Cluster.example())
    asked = prepared.about("the cost of a new spillway")
    assert np.allclose(np.log(asked.dpp.quality / prepared.dpp.quality), asked.question.lift)
    assert np.allclose(asked.dpp.similarity, prepared.dpp.similarity)  # diversity is as it was
    assert np.allclose([sum(asked.terms(i).values()) for i in range(asked.n)], 2 * np.log(asked.dpp.quality))
    assert {*asked.terms(0)} == {*prepared.terms(0), REASON}
    assert prepared.about("the cost of a new spillway") is asked
    assert abs(asked.question.lift).max() <= STRENGTH * FAR
    assert asked.question.lift.std() == pytest.approx(STRENGTH, rel=0.2)
    summary = bundled.summarize(prepared, 60, "words", about="the cost of a new spillway")
    best = max(summary.explain().chosen, key=lambda one: one.contributions[REASON])
    assert "14 million" in best.sentence.text
    codes = {x.code for x in summary.explain().best_left_out(None)}
    assert "less-relevant" in codes
    weakest = prepared.dpp.quality[summary.subset].min()
    for x in summary.explain().best_left_out(None):
        if x.code == "less-relevant":
            assert asked.dpp.quality[x.number] < asked.dpp.quality[summary.subset].min()
            assert prepared.dpp.quality[x.number] >= weakest
    assert "less-relevant" not in {
        x.code for x in bundled.summarize(prepared, 60, "words").explain().best_left_out(None)
    }


def test_relevance_is_that_of_its_equation():
    rng = np.random.default_rng(0)
    said = [[f"word{k}" for k in rng.integers(0, 30, rng.integers(3, 9))] for _ in range(12)]
    found, columns = Numbered.of(said)
    counts = found.counts().toarray()
    df = (counts > 0).sum(axis=0)
    rows = np.sqrt(counts) * np.log(13 / (0.5 + df))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    direct = rows @ (np.log(13 / (0.5 + df)) * matching_words(list(columns), ["word3", "word17"]))
    C = rows @ rows.T
    r = np.linalg.solve(np.eye(12) - ONWARD * C / C.sum(axis=0), (1 - ONWARD) * direct)
    assert np.allclose(
        spread_relevance(*direct_relevance(found, columns, ["word3", "word17"])),
        12 * r / direct.sum(),
        atol=12 * ONWARD**WALK_STEPS,
    )


@pytest.mark.parametrize("compress", [False, True])
def test_a_sentence_without_a_word_of_the_question_says_that_it_is_only_near(bundled, compress):
    prepared, near = bundled.prepare(Cluster.example(), compress=compress), 0
    for question in ("How many residents had to leave?", "insurers", "What would a new spillway have cost?"):
        found = bundled.summarize(prepared, 100, "words", about=question, compress=compress)
        for one in found.explain().chosen:
            said = " ".join(reason.words for reason in one.reasons if reason.idea == "about")
            shares = matching_words(found.split.words[one.number], asked_words(question)).any()  # from the definition
            assert ("shares no word with the question" in said) <= (not shares), one.words
            assert ("about the question" in said) <= bool(shares), one.words
            near += "shares no word" in said
    assert near  # there are such sentences in the example


def test_forms_of_a_word_match_and_others_do_not():
    words = ["evacuations", "phone", "nation", "povodně", "povodeň", "הסכר", "dam", "damage"]
    found = dict(zip(words, matching_words(words, ["evacuation", "povodní", "סכר", "dam", "xylophone"]), strict=True))
    assert found["dam"] == 1.0
    assert min(found[word] for word in ("evacuations", "povodně", "הסכר")) >= 0.25
    assert found["nation"] == found["damage"] == found["phone"] == 0.0


@pytest.mark.parametrize("language", [None, "english"])
def test_a_question_that_nothing_mentions_is_told(bundled, language):
    cluster = Cluster(Cluster.example().documents, language=language)
    found = bundled.summarize(cluster, 60, "words", about="Which zebra won the xylophone quiz?")
    assert "No sentence mentions “zebra”" in found.note
    assert found.text == bundled.summarize(cluster, 60, "words").text
    assert found.to_dict()["note"] == found.note


def test_what_is_no_question_is_refused(bundled):
    for wrong, kind in (("", ValueError), ("?!", ValueError), (3, TypeError)):
        with pytest.raises(kind, match="about must"):
            bundled.summarize(Cluster.example(), about=wrong)
    assert summarize("Rain fell. Ten boats sank in Brenn.", 1, "sentences", about="the").length == 1  # only small words


def test_a_question_counts_in_the_first_choice(bundled, monkeypatch):
    monkeypatch.setattr(summarizer_module, "EXACT", 20)
    monkeypatch.setattr(summarizer_module, "first_choice", partial(first.first_choice, part=50))
    lines = [f"The council of Brenn met on day {k} and spoke of the harbour and the boats." for k in range(90)]
    lines.insert(70, "Nobody in the town feeds the grey heron under the mill.")
    cluster = Cluster([Document("book", "\n\n".join(lines))])
    assert "heron" in bundled.summarize(cluster, 1, "sentences", about="the heron").text
    assert len(bundled.summarize(cluster, 1, "sentences", about="the heron").split) <= 20
