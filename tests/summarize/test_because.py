"""Why sentences are chosen: ideas against the average sentence, with their errors; and what the set is like."""

import gc
import weakref
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dpplearn.decoding.candidates import diversified
from dpplearn.learning.relative import LEAST
from dpplearn.summarize import Cluster, Document, Summarizer
from dpplearn.summarize.explain.explanation import Explanation, likely_words
from dpplearn.summarize.explain.topics import IDEAS, Vocabulary
from dpplearn.summarize.model.features import FEATURE_SETS
from dpplearn.summarize.model.split_cluster import split_cluster
from made_up import made_up


@pytest.fixture(scope="module")
def summary(bundled):
    return bundled.summarize(Cluster.example(), 100, "words")


def because_of(summary, diversity=0.5):
    return Explanation(replace(summary, decision=replace(summary.decision, diversity=diversity)))


@pytest.mark.parametrize("diversity", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_reasons_are_those_of_the_kernel_that_decided(summary, diversity):
    """log det of L(d) of the set less that without the sentence, both less what the average sentence would add."""
    because, Y = because_of(summary, diversity), summary.subset
    L = diversified(summary.dpp.L, diversity)
    eta = np.log(L.diagonal())
    S = L / np.sqrt(np.outer(L.diagonal(), L.diagonal()))
    for i in Y.tolist():
        others = np.setdiff1d(Y, i)
        told = sum(because.reason_for(idea, i).amount for idea in because.ideas)
        assert told == pytest.approx(eta[i] - eta.mean(), abs=1e-12)
        new = np.subtract(*(np.linalg.slogdet(L[np.ix_(X, X)])[1] for X in (Y, others))) - eta[i]  # log r_i
        rest = np.setdiff1d(np.arange(len(L)), others)
        inverse = np.linalg.inv(S[np.ix_(others, others)])
        mean = np.mean([1 - S[j, others] @ inverse @ S[others, j] for j in rest])
        assert because.novelty(i)[0].amount == pytest.approx(new - np.log(mean), abs=1e-9)


def test_what_opens_its_document_is_not_later_than_anything(bundled):
    """A paper and the sentences that cite it, each a document of its own, which opens it."""
    parts = ["bridge", "river", "storm", "harbour", "council", "ferry", "budget", "school", "engine", "valley"]
    paper = " ".join(f"The {one} of the {two} was measured for the report." for one in parts for two in parts[:4])
    cited = [f"Others measured the {one} and the {two}, too." for one, two in pairwise(parts)]
    cluster = Cluster([Document("paper", paper), *(Document(f"c{k}", text) for k, text in enumerate(cited))])
    told = 0
    for c in (cluster, Cluster.example(), *map(made_up, range(2))):
        for budget in (20, 60):
            found = bundled.summarize(c, budget, "words").explain()
            chosen = np.mean([one.sentence.position for one in found.chosen])
            for x in found.best_left_out(None):
                told += "later in its document" in x.reason
                assert x.sentence.position > 1 or "later in its document" not in x.reason
                assert x.sentence.position <= chosen or "where it stands" not in x.reason
    assert told


def test_where_nothing_was_to_choose_nobody_says_how_sure_that_is(bundled):
    """All that may be in is in: a share below 1 would be that of the draws, which are never of everything."""
    n = bundled.prepare(Cluster.example()).n
    for options in ({"budget": "100%"}, {"exclude": [*range(1, n)], "budget": 60}):
        found = bundled.summarize(Cluster.example(), unit="words", **options).explain()
        assert {x.code for x in found.best_left_out(None)} <= {"excluded", "not-alone"}
        assert found.as_a_set.sureness is None
    alone = bundled.summarize(Cluster.from_texts(["A storm hit the coast."])).explain().as_a_set
    assert alone.sureness is None


def test_what_did_not_count_is_no_reason(bundled):
    """At diversity 0 nobody asks what others say already, at 1 nobody asks how good a sentence is."""
    learned = {idea.name for idea in IDEAS}
    for cluster in (Cluster.example(), *map(made_up, range(3))):
        for decoder in ("greedy", "consensus"):
            quality, variety = (
                {
                    reason.idea
                    for c in bundled.summarize(cluster, 60, "words", decoder=decoder, diversity=d).explain().chosen
                    for reason in c.reasons
                }
                for d in (0.0, 1.0)
            )
            assert "adds" not in quality
            assert not variety & learned


def test_at_most_three_reasons_the_strongest_first_and_none_within_its_error(bundled):
    seen = set()
    for cluster in (Cluster.example(), *map(made_up, range(3))):
        for options in ({}, {"decoder": "greedy"}, {"about": "the river"}):
            for c in bundled.summarize(cluster, 60, "words", **options).explain().chosen:
                amounts = [reason.amount for reason in c.reasons]
                assert 1 <= len(amounts) <= 3
                assert amounts == sorted(amounts, reverse=True)
                seen |= {reason.idea for reason in c.reasons}
                for reason in c.reasons:
                    fallback = reason.idea == "room"
                    assert fallback or (reason.amount >= LEAST and reason.amount > (reason.error or 0.0))
                    assert reason.words in c.words
    assert {"place", "central", "expected", "about", "titles"} <= seen


def test_a_weight_within_its_error_is_no_reason(bundled):
    """Ten times the error of every weight leaves no learned idea as a reason."""
    model = Summarizer.load()
    model._trained.model.theta_std_ = 10 * bundled.theta_std_
    model._trained.model.covariance_ = None
    unsure = model.summarize(Cluster.example(), 100, "words", decoder="greedy").explain()
    learned = {idea.name for idea in IDEAS}
    assert not any(reason.idea in learned for c in unsure.chosen for reason in c.reasons)
    sure = bundled.summarize(Cluster.example(), 100, "words", decoder="greedy").explain()
    assert all(any(reason.idea in learned for reason in c.reasons) for c in sure.chosen)


def test_the_error_of_a_sum_is_that_of_the_joint_covariance(summary, monkeypatch):
    because = because_of(summary)
    F, model = summary.split.F, summary.prepared.model
    x = F - F.mean(axis=0)
    rng = np.random.default_rng(0)
    A = rng.normal(size=(F.shape[1],) * 2) / 20
    for covariance in (None, A @ A.T):
        monkeypatch.setattr(model, "covariance_", covariance)
        i = int(summary.subset[0])
        for idea, own in because.ideas.items():
            parts = x[i, own]
            if covariance is None:
                expected = np.abs(parts) @ model.theta_std_[own]
            else:
                expected = np.sqrt(parts @ covariance[np.ix_(own, own)] @ parts)
            assert because.reason_for(idea, i).error == pytest.approx(expected, abs=1e-12)


def test_every_feature_belongs_to_an_idea_and_a_new_one_has_its_own_name():
    home = {feature for idea in IDEAS for feature in idea.features}
    assert {one.name for features in FEATURE_SETS.values() for one in features} == home | {"constant"}


def test_what_a_summary_is_expected_to_say(bundled):
    """By enumeration of the words: the share of a sentence's words that a draw has, in expectation."""
    prepared = bundled.prepare(made_up(3))
    chance = np.random.default_rng(0).random(prepared.n)
    counts = prepared.agreement[0][1].toarray()
    expected = (np.minimum(counts, chance @ counts)).sum(axis=1) / counts.sum(axis=1)
    np.testing.assert_allclose(likely_words(prepared, chance, np.empty(0, np.int64)), expected)


def test_what_the_set_covers_and_leaves_out(bundled):
    storm = "The storm closed the old bridge over the river. Ferries carried people across the river."
    vote = "The council voted on the school budget. The school budget rose. Teachers praised the school budget."
    cluster = Cluster([Document("storm", storm), Document("vote", vote)])
    found = bundled.summarize(cluster, 1, "sentences", include=[0]).explain()
    told = found.as_a_set
    assert told.covers.documents == (0,)
    assert told.leaves_out.documents == (1,)
    assert "nothing from vote" in told.leaves_out.words
    assert {"school", "budget"} <= {word for topic in told.leaves_out.topics for word in topic}
    assert told.alikeness is None
    assert told.sureness is None  # nothing was to choose
    both = bundled.summarize(cluster, 4, "sentences").explain().as_a_set
    assert both.leaves_out.documents == ()
    assert both.covers.share > told.covers.share
    data = found.to_dict()
    assert data["covers"]["words"] == told.covers.words
    assert {"covers", "leaves_out", "alikeness", "sureness"} <= set(data)
    assert all(words in str(found) for _, words in told.lines())


def test_how_sure_a_choice_is(summary):
    """Against sets drawn from the model at this length."""
    sure = summary.explain().as_a_set.sureness
    assert sure.kept == pytest.approx(summary.choice.chance[summary.subset].sum())
    assert sure.of == summary.subset.size
    assert 0 < sure.share < 1
    cost = summary.decision.cost
    assert cost @ summary.choice.chance == pytest.approx(100, rel=1e-6)  # draws of this length


def test_a_vocabulary_is_made_once_and_goes_with_its_cluster():
    read = split_cluster(Cluster.from_texts(["A storm sank ten boats. Nobody was hurt."]))
    kept, gone = Vocabulary.of(read), weakref.ref(read)
    assert Vocabulary.of(read) is kept
    assert kept.worths["storm"] > 0
    other = split_cluster(Cluster.from_texts(["Snow fell."]))
    assert Vocabulary.of(other) is not kept
    del read
    gc.collect()
    assert gone() is None
