"""Shorter forms of sentences as candidates: learned with, chosen from, never two of a sentence, and told."""

import numpy as np
import pytest

from dpplearn.summarize import Cluster
from dpplearn.summarize.explain.summary import html_report
from dpplearn.summarize.text.short_forms import without


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


def test_the_report_and_the_reasons_tell_what_was_dropped(bundled):
    found = bundled.summarize(Cluster.example(), 110, "words", compress=True)
    short = next(sentence for sentence in found.sentences if sentence.dropped)
    gone = short.full[slice(*short.dropped[0])]
    assert f"<del>{gone}</del>" in html_report(found).replace("&#x27;", "'")
    assert f"without “{gone.strip()}”" in str(found.explain())
    told = next(one for one in found.to_dict()["sentences"] if one["text"] == short.text)
    assert (told["full"], told["dropped"]) == (short.full, short.dropped)
    plain = bundled.summarize(Cluster.example(), 60, "words", annotate=False)
    assert "<del>" not in html_report(plain)
    assert not any(one.get("dropped") for one in plain.to_dict()["sentences"])
