"""Shorter forms of sentences as candidates: learned with, chosen from, never two of a sentence, and told."""

import numpy as np
import pytest

from dpplearn.summarize import Cluster, Summarizer
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.experiments.evaluation import plan
from dpplearn.summarize.explain.summary import html_report
from dpplearn.summarize.text.short_forms import without

TEXT = (
    "The old bridge over the Brenn (built in 1931) was closed on Monday, officials said. "
    "However, the mayor has sold the mill by the lake, leaving ninety men idle. "
    "The school stays open for all children of the valley."
)


@pytest.fixture(scope="module")
def prepared(bundled):
    return bundled.prepare(Cluster.example(), compress=True)


def test_forms_stand_after_their_sentence_and_change_nothing_of_it(bundled, prepared):
    """The features and cosines of whole sentences are those that they have without any form."""
    plain = bundled.prepare(Cluster.example())
    whole = [i for i, sentence in enumerate(prepared.split.sentences) if not sentence.dropped]
    assert [prepared.split.sentences[i] for i in whole] == list(plain.split.sentences)
    np.testing.assert_array_equal(prepared.split.F[whole], plain.split.F)
    np.testing.assert_allclose(prepared.split.C[np.ix_(whole, whole)], plain.split.C, atol=1e-12)
    assert prepared.n > plain.n
    assert plain.split.forms is None
    for i, sentence in enumerate(prepared.split.sentences):
        assert prepared.split.forms[i] == np.searchsorted(whole, i, side="right") - 1
        assert sentence.text == without(sentence.full, sentence.dropped)
        text = prepared.split.cluster.documents[sentence.document].text[sentence.start : sentence.end]
        assert " ".join(text.split()) == sentence.full
    assert prepared.split.twins == [*range(prepared.n)]
    assert prepared.split.full_texts == tuple(plain.split.texts)


def test_a_form_weighs_no_more_than_its_sentence(bundled, prepared):
    """q^2 of k forms is divided by k."""
    raw = bundled.model_.dpp(prepared.split.items).quality
    k = np.bincount(prepared.split.forms)[prepared.split.forms]
    np.testing.assert_allclose(prepared.dpp.quality, raw / np.sqrt(k))


@pytest.mark.parametrize("decoder", ["consensus", "greedy"])
@pytest.mark.parametrize(("budget", "unit"), [(665, "bytes"), (6, "sentences"), ("20%", "words")])
def test_never_two_forms_of_a_sentence_and_never_over_the_budget(bundled, prepared, decoder, budget, unit):
    found = bundled.summarize(prepared, budget, unit, decoder=decoder, n_samples=2_000)
    forms = prepared.split.forms[found.subset]
    assert 0 < np.unique(forms).size == forms.size
    assert found.length <= found.budget
    assert found.text.split("\n") == [sentence.text for sentence in found.sentences]
    for x in found.explain().best_left_out(None):  # sentences, each once, of which no form was chosen
        assert not x.sentence.dropped
        assert prepared.split.forms[x.number] not in forms


def test_a_cluster_prepared_without_forms_has_none(bundled):
    prepared = bundled.prepare(TEXT)
    with pytest.raises(ValueError, match="compress=True"):
        bundled.summarize(prepared, 20, "words", compress=True)
    assert bundled.summarize(bundled.prepare(TEXT, compress=True), 20, "words").length <= 20


def test_pins_take_one_form_and_bans_all(bundled, prepared):
    short = next(i for i, sentence in enumerate(prepared.split.sentences) if sentence.dropped)
    group = np.flatnonzero(prepared.split.forms == prepared.split.forms[short])
    pinned = bundled.summarize(prepared, 80, "words", include=[short])
    assert np.isin(pinned.subset, group).sum() == 1
    assert short in pinned.subset
    banned = bundled.summarize(prepared, 5_000, "words", exclude=[group[0]], fill=True)
    assert not np.isin(banned.subset, group).any()
    only_short = bundled.summarize(prepared, 10_000, "sentences", exclude=[short])
    assert short not in only_short.subset
    with pytest.raises(ValueError, match="group"):
        bundled.summarize(prepared, 80, "words", include=[group[0], short])


def test_reasons_hold_of_the_shortest_form(bundled):
    """A sentence whose shorter form would have fitted is not told to be too long."""
    cluster = Cluster.from_texts([TEXT])
    found = bundled.summarize(cluster, 9, "words", compress=True)
    for x in found.explain().best_left_out(None):
        forms = [s for s in found.split.sentences if s.start == x.sentence.start]
        assert (x.code == "too-long") == (min(len(s.text.split()) for s in forms) > 9)


def test_why_of_a_form_speaks_of_its_sentence(bundled, prepared):
    """Also of a form of which another was chosen: that was a StopIteration."""
    found, forms = bundled.summarize(prepared, 60, "words"), prepared.split.forms
    answers = [found.why(i).number for i in range(prepared.n)]
    assert [forms[k] for k in answers] == forms.tolist()
    assert set(found.subset.tolist()) <= set(answers)


def clusters():
    example = Cluster.example()
    parts = [example.documents[k : k + 4] for k in (0, 4)]
    return [Cluster(part, example.references, f"c{k}.x") for k, part in enumerate(parts)]


def test_other_languages(bundled):
    """Nothing goes where the cluster says, or shows, that it is not English."""
    german = "Die alte Brücke (aus dem Jahr 1931) wurde am Montag für alle Wagen gesperrt, sagte die Polizei."
    read = bundled.prepare(Cluster([Document("a", german)], language="german"), compress=True).split
    assert [s.text for s in read.sentences] == [german]
    unsaid = bundled.prepare(TEXT, compress=True).split  # a model for any language reads this as English
    assert "The old bridge over the Brenn was closed." in unsaid.texts


def test_the_report_and_the_reasons_tell_what_was_dropped(bundled):
    found = bundled.summarize(Cluster.example(), 60, "words", compress=True)
    short = next(sentence for sentence in found.sentences if sentence.dropped)
    gone = short.full[slice(*short.dropped[0])]
    assert f"<del>{gone}</del>" in html_report(found).replace("&#x27;", "'")
    assert f"without “{gone.strip()}”" in str(found.explain())
    told = next(one for one in found.to_dict()["sentences"] if one["text"] == short.text)
    assert (told["full"], told["dropped"]) == (short.full, short.dropped)
    plain = bundled.summarize(Cluster.example(), 60, "words")
    assert "<del>" not in html_report(plain)
    assert not any(one.get("dropped") for one in plain.to_dict()["sentences"])


def test_the_experiment_trains_once_for_whole_and_shorter_sentences():
    """The compressed system has the model of consensus decoding."""
    systems = ["begin", "dpp-greedy", "dpp-consensus", "dpp-compressed"]
    groups = {tuple(task.systems) for task in plan(Summarizer(), systems, clusters(), None)}
    assert groups == {("dpp-greedy",), ("begin", "dpp-consensus", "dpp-compressed")}
