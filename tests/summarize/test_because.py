"""Why sentences are chosen: ideas against the average sentence, with their errors; and what the set is like."""

from dataclasses import replace

import numpy as np
import pytest

from dpplearn.decoding.candidates import diversified
from dpplearn.learning.reasons import LEAST_AMOUNT
from dpplearn.summarize import Cluster, Document
from dpplearn.summarize.explain.explanation import Explanation, likely_words
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
                    assert fallback or (reason.amount >= LEAST_AMOUNT and reason.amount > (reason.error or 0.0))
                    assert reason.words in c.words
    assert {"place", "central", "expected", "about", "titles"} <= seen


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
