"""Very many sentences: the same features without an n x n matrix, a first choice, the exact model on what remains."""

from functools import partial

import numpy as np
import pytest

from dpplearn.summarize import Cluster, Summarizer
from dpplearn.summarize import summarizer as summarizer_module
from dpplearn.summarize.model import prepared as first
from dpplearn.summarize.model.choice import Decision
from dpplearn.summarize.text.units import suitable_words

WORDS = [f"{a}{b}{c}o" for a in "bdklmrt" for b in "aeiou" for c in "nrs"]


def book(sentences, seed=0, documents=1, longest=12):
    """Sentences of words as frequent as Zipf says."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, len(WORDS) + 1)
    sizes = rng.integers(3, longest, sentences)
    drawn = (" ".join(rng.choice(WORDS, size, p=share / share.sum())).capitalize() + "." for size in sizes)
    lines = list(drawn)
    return Cluster.from_texts([" ".join(lines[d::documents]) for d in range(documents)])


@pytest.fixture(scope="module")
def model():
    return Summarizer.load()


@pytest.fixture
def sixty(monkeypatch):
    """A first choice keeps 60 sentences, from parts of 50."""
    monkeypatch.setattr(summarizer_module, "EXACT", 60)
    monkeypatch.setattr(summarizer_module, "first_choice", partial(first.first_choice, part=50))


def gain(L, Y, i):
    """det(L_Yi) / det(L_Y), by the definition."""
    return np.linalg.det(L[np.ix_([*Y, i], [*Y, i])]) / (np.linalg.det(L[np.ix_(Y, Y)]) if Y else 1.0)


def test_the_first_choice_is_greedy_in_each_part_and_by_gain_over_all(model, monkeypatch):
    monkeypatch.setattr(first, "COVERING", 0.0)
    read = model.features_.read(book(8, seed=3))
    L = model.dpp(read).L
    order = []
    for part in ([0, 1, 2, 3], [4, 5, 6, 7]):
        Y = []
        while len(Y) < 4:
            gains = {i: gain(L, Y, i) for i in part if i not in Y}
            best = max(gains, key=gains.get)
            order.append((gains[best], best))
            Y.append(best)
    for keep in range(1, 8):
        wanted = sorted(i for _, i in sorted(order, reverse=True)[:keep])
        assert first.first_choice(read, model._trained.model, keep, part=4).tolist() == wanted


def test_the_other_places_are_for_sentences_with_likely_words(model):
    read = model.features_.read(book(120, seed=1))
    log_q = np.log(model.dpp(read).quality)
    p = np.exp(2 * log_q) / np.exp(2 * log_q).sum()
    sets = [set(tokens) for tokens in read.words]
    likely = {w: 1 - (1 - sum(p[i] for i, own in enumerate(sets) if w in own)) ** 8 for w in set().union(*sets)}
    wanted = [sum(likely[w] for w in own) / (len(own) + 5) for own in sets]
    np.testing.assert_allclose(first.coverage(read.phi, log_q), wanted, rtol=1e-10)
    kept = first.first_choice(read, model._trained.model, 20, part=40)
    assert kept.size == 20 == len(set(kept.tolist()))
    best = np.argsort(-np.array(wanted), kind="stable")[:6]
    assert set(best.tolist()) <= set(kept.tolist())


@pytest.mark.usefixtures("sixty")
def test_a_share_is_one_of_the_whole_book(model):
    """Not of the sentences that a first choice kept of it; nor is what suits the text."""
    cluster = book(400, seed=4)
    words = sum(len(sentence.text.split()) for sentence in cluster.sentences())
    assert model.summarize(cluster, "5%", decoder="greedy").budget == np.floor(0.05 * words)
    assert model.summarize(cluster, "5%", "sentences", decoder="greedy").length == 20
    assert model.summarize(cluster, "auto", "words", decoder="greedy").budget == np.floor(suitable_words(words))


@pytest.mark.usefixtures("sixty")
@pytest.mark.parametrize(("budget", "unit"), [("90%", "words"), (60, "sentences")])
def test_where_all_that_was_kept_fits_no_decoder_is_asked(model, monkeypatch, budget, unit):
    """A consensus over sets of thousands of sentences takes hours, to say that all of them are in it."""
    monkeypatch.setattr(Decision, "decode", None)
    cluster = book(400, seed=4)
    summary = model.summarize(cluster, budget, unit)
    assert len(summary.sentences) == (60 if unit == "sentences" else summary.split.alone.sum())
    summary = model.summarize(cluster, budget, unit, exclude=[3])
    assert {x.code for x in summary.explain().best_left_out(None)} <= {"excluded", "not-alone"}
    with pytest.raises(ValueError, match="diversity"):
        model.summarize(cluster, budget, unit, diversity=2.0)
    with pytest.raises((TypeError, ValueError), match=r"share items|not callable"):  # whoever is asked first
        model.summarize(cluster, budget, unit, include=[3], exclude=[3])
