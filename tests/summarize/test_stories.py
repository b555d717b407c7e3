"""Stories of several days: what their summaries must tell and must not; and that brackets keep to the budget."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpplearn.summarize import Cluster, Document, Summarizer
from dpplearn.summarize.text.short_forms import without
from dpplearn.summarize.text.states import looks_ahead
from dpplearn.summarize.text.units import length

LINES = (Path(__file__).parent / "stories" / "stories.jsonl").read_text(encoding="utf-8").splitlines()
STORIES = [json.loads(line) for line in LINES]
MODEL = Summarizer.load()


def cluster(story):
    return Cluster([Document(**document) for document in story["documents"]])


EXAMPLE = Cluster.example()
READ = {"example": MODEL.prepare(EXAMPLE)} | {story["id"]: MODEL.prepare(cluster(story)) for story in STORIES}


def bare(sentence):
    """A sentence without what was added."""
    text = sentence.text
    for added in sentence.added:
        text = text.replace(f" {added}", "", 1) if f" {added}" in text else text.replace(f"{added} ", "", 1)
    return text


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story["id"])
def test_a_story_is_told_by_its_last_state(story):
    summary = MODEL.summarize(cluster(story), 80, "words")
    assert all(any(text in summary.text for text in group) for group in story["facts"])
    assert not any(text in summary.text for text in story["never"])
    first = summary.sentences[0]
    assert first.position == 1
    assert not looks_ahead(first.text)
    assert (np.diff(summary.split.when[summary.order]) >= 0).all()


@given(name=st.sampled_from(sorted(READ)), budget=st.integers(1, 130), unit=st.sampled_from(["words", "bytes"]))
def test_brackets_keep_to_the_budget_and_leave_the_sentences_as_they_are(name, budget, unit):
    budget *= 1 if unit == "words" else 7
    summary = MODEL.summarize(READ[name], budget, unit)
    assert summary.length == length(summary.text, unit) <= budget
    assert summary.sentences
    documents = READ[name].split.cluster.documents
    for one in summary.sentences:
        assert bare(one) == without(one.full, one.dropped)
        assert one.full == " ".join(documents[one.document].text[one.start : one.end].split())


def test_the_last_number_of_dead_is_told():
    """Where several documents tell one and the decoder chose none, the likeliest sentence that has it is chosen."""
    days = ["2031-02-03", "2031-02-04", "2031-02-05"]
    rest = "The coast guard searched the bay of Lowick for a second day with boats and divers."
    lead = "The coast guard searched the bay of Lowick with boats after a ferry sank."
    texts = [f"{lead} {rest} In all {n} people died in the cold water of the bay of Lowick." for n in (6, 31, 58)]
    documents = [Document(day, text, date=day) for day, text in zip(days, texts, strict=True)]
    summary = MODEL.summarize(Cluster(documents), 30, "words")
    assert "58 people died" in summary.text
    assert "31" not in summary.text


@pytest.mark.parametrize("order", ["chronological", "source"])
def test_a_story_begins_with_an_opening_and_goes_on_in_time(order):
    """The likeliest lead that comes before what was chosen joins it; where there is none, what is earlier goes."""
    later = ["Four cranes stood still at noon.", "The owner, Merrin Lines, paid a fine of two million crowns."]
    leads = [
        "A crane fell on a ship in the port of Lowick.",
        "Anyone who works in the port can tell a story of cranes.",
    ]
    inspectors = "Inspectors found rust in the cranes of the port of Lowick, and the port closed nine of the cranes."
    for lead, first in zip(leads, (leads[0], inspectors), strict=True):
        texts = [f"{lead} {later[0]} The wind was strong in the port.", f"{inspectors} {later[1]} It rained all day."]
        documents = [Document(f"2031-02-0{k}", text, date=f"2031-02-0{k}") for k, text in enumerate(texts, 3)]
        summary = MODEL.summarize(Cluster(documents), 40, "words", order=order)
        assert summary.sentences[0].text == first


def test_the_last_toll_leaves_room_for_what_the_caller_includes():
    """It was added beside two sentences of 67 words, and the error said that these cost 101 of 100."""
    summarizer = Summarizer.load()
    prepared = summarizer.prepare(Cluster.example())
    cost, rng = prepared.split.costs("words", True), np.random.default_rng(0)
    pairs = [rng.choice(prepared.n, 2, replace=False) for _ in range(400)]
    for pair in (pair for pair in pairs if 55 < cost[pair].sum() <= 100):
        found = summarizer.summarize(prepared, 100, "words", include=pair.tolist())
        assert set(pair) <= set(found.subset)
        assert found.length <= 100
