"""The contract of the API: what it answers to requests that are right."""

import numpy as np
import pytest

from dpplearn.summarize import Cluster, Summarizer
from dpplearn.summarize.text.short_forms import without
from dpplearn.summarize.text.units import suitable_words
from dpplearn.summarize.text.words import one_line
from dpplearn.web import schema

CLUSTERS, SUMMARIZE = "/api/v1/clusters", "/api/v1/summarize"
RTL = (
    "\u202etpircs\u202c A storm 🌩️ hit Zürich <script>alert(1)</script> &lt;b&gt; today. \u05e9\u05dc\u05d5\u05dd came."
)


def bare(one):
    """What a summary has of a sentence, without its additions."""
    text = one["text"]
    for added in one["added"]:
        text = text.replace(f" {added}", "", 1) if f" {added}" in text else text.replace(f"{added} ", "", 1)
    return text


def test_a_cluster_has_sentences_with_places_and_reasons(example):
    texts = [document["text"] for document in example["documents"]]
    for i, sentence in enumerate(example["sentences"]):
        assert sentence["id"] == i
        source = texts[sentence["document"]][sentence["start"] : sentence["end"]]
        assert " ".join(source.split()) == sentence["text"]
        terms = list(sentence["contributions"].values())
        assert terms == sorted(terms, key=lambda x: -abs(x))
        assert 0.0 not in terms
        assert np.isclose(np.exp(sum(terms) / 2), sentence["quality"])
        assert sentence["length"]["words"] == len(sentence["text"].split())
        assert sentence["length"]["bytes"] == len(sentence["text"].encode())
        assert max(abs(sentence["x"]), abs(sentence["y"])) <= 1.0
    usual = float(int(suitable_words(sum(sentence["length"]["words"] for sentence in example["sentences"]))))
    assert example["defaults"] == {"budget": usual, "unit": "words", "diversity": 0.5, "decoder": "consensus"}
    assert example["days"][0] == "2024-03-14"


def test_a_cluster_is_found_again_until_it_is_deleted(client, is_problem):
    answer = client.post(CLUSTERS, json={"documents": [{"text": "A storm hit. Rain fell."}]})
    place = answer.headers["location"]
    assert place == f"{CLUSTERS}/{answer.json()['id']}"
    assert client.get(place).json() == answer.json()
    assert client.delete(place).status_code == 204
    for gone in (client.get(place), client.delete(place), client.post(f"{place}/select", json={})):
        is_problem(gone, 404, "cluster-gone")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"decoder": "greedy"},
        {"decoder": "greedy", "budget": 400, "unit": "bytes"},
        {"budget": 3, "unit": "sentences"},
        {"budget": "12.5%"},
        {"unit": "tokens"},
    ],
)
def test_select_is_what_the_summarizer_says(select, options):
    found = select(diversity=0.6, **options).json()
    asked = options.get("budget"), options.get("unit", "words")
    decoder = options.get("decoder", "consensus")
    summary = Summarizer.load().summarize(Cluster.example(), *asked, decoder=decoder, diversity=0.6)
    assert found["text"] == "\n".join(one["text"] for one in found["selected"]) == summary.text
    assert (found["length"], found["budget"], found["unit"]) == (summary.length, summary.budget, summary.unit)
    assert [one["sentence"] for one in found["selected"]] == summary.order.tolist()
    assert [one["order"] for one in found["selected"]] == list(range(1, len(summary.subset) + 1))
    for one, why in zip(found["selected"], summary.explain().chosen, strict=True):
        assert np.isclose(one["marginal"], why.marginal)
        assert np.isclose(one["quality"], why.quality)
        assert one["contributions"] == pytest.approx(why.contributions)
        assert bare(one) == without(one["full"], tuple(map(tuple, one["dropped"])))
        assert not one["included"]
    assert np.allclose(found["marginals"], summary.dpp.marginals)


@pytest.mark.parametrize("decoder", list(schema.DECODERS))
def test_pinned_are_in_and_banned_are_out(select, decoder):
    found = select(decoder=decoder, include=[40, 7], exclude=[0, 21, 31]).json()
    chosen = {one["sentence"]: one["included"] for one in found["selected"]}
    assert chosen[7]
    assert chosen[40]
    assert sum(chosen.values()) == 2
    assert not {0, 21, 31} & {*chosen, *(one["sentence"] for one in found["redundant"])}
    assert found["length"] <= 100
    assert [found["marginals"][i] for i in (7, 40, 0, 21, 31)] == [1, 1, 0, 0, 0]


def test_summarize_is_both_in_one(client, example, select):
    options = {"budget": 120, "unit": "words", "diversity": 0.4}
    whole = client.post(SUMMARIZE, json={"documents": example["documents"], **options}).json()
    parts = select(**options).json()
    for name in ("text", "length", "budget", "unit", "note", "similarity", "selected", "redundant", "left_out"):
        assert whole[name] == parts[name]
    for one in whole["selected"]:
        sentence = example["sentences"][one["sentence"]]
        assert all(one[name] == sentence[name] for name in ("document", "position", "start", "end"))
        assert one["full"] == sentence["text"]


def test_compress_tells_what_was_dropped(client, example, select):
    """Sentences keep their numbers; of a shortened one spans of its text are given, and the summary has the rest."""
    plain, short = select(budget=110).json(), select(budget=110, compress=True).json()
    texts = [sentence["text"] for sentence in example["sentences"]]
    assert any(one["added"] for one in plain["selected"])
    assert any(one["dropped"] for one in short["selected"])
    for one in short["selected"]:
        assert bare(one) == without(texts[one["sentence"]], tuple(map(tuple, one["dropped"])))
    assert short["length"] <= 110
    assert len(short["marginals"]) == len(texts)
    assert all(0 <= p <= 1 for p in short["marginals"])
    first = short["selected"][0]["sentence"]
    banned = select(budget=60, compress=True, exclude=[first]).json()["selected"]
    assert first not in [one["sentence"] for one in banned]
    pinned = select(budget=60, compress=True, include=[first]).json()["selected"]
    assert first in [one["sentence"] for one in pinned]
    asked = {"documents": example["documents"], "budget": 110, "compress": True}
    assert client.post(SUMMARIZE, json=asked).json()["text"] == short["text"]


def test_offsets_count_code_points_and_texts_come_back_unchanged(client):
    answer = client.post(CLUSTERS, json={"documents": [{"id": "<i>", "title": "&amp;", "text": RTL}]}).json()
    assert answer["documents"] == [{"id": "<i>", "title": "&amp;", "text": RTL, "date": None}]
    for sentence in answer["sentences"]:
        assert one_line(RTL[sentence["start"] : sentence["end"]]) == sentence["text"]
    assert any("<script>alert(1)</script>" in sentence["text"] for sentence in answer["sentences"])
