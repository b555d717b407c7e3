"""How long a summary is: a limit that is not filled with what is not worth having, a number of sentences, a share."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from brute import pmf
from dpplearn.decoding.candidates import read_model
from dpplearn.decoding.registry import DECODERS
from dpplearn.dpp import DPP
from dpplearn.summarize import Cluster
from dpplearn.summarize.model.choice import worth_of
from dpplearn.summarize.text.units import costs, length, limit, suitable_words
from made_up import made_up

# What is worth having


def kernel(seed, n=6):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n)) * rng.uniform(0.2, 1.5, (n, 1))
    return B @ B.T, rng.uniform(1.0, 5.0, n)


@pytest.mark.parametrize(("pinned", "out"), [((), ()), ((1,), ()), ((0, 4), (2,))])
@pytest.mark.parametrize("seed", range(3))
def test_probabilities_at_a_length_are_those_of_the_definition(seed, pinned, out):
    """p_i = P(i in R) for R drawn from e^s L given what is in and out, by summing over all subsets."""
    L, cost = kernel(seed)
    room = 11.0 - cost[list(pinned)].sum()
    chance, least = worth_of(read_model(DPP(L), 0.5), cost, room, np.array(pinned, int), np.array(out, int))
    assert np.isclose(cost @ chance, room)  # the length on average
    rest = [i for i in range(6) if i not in (*pinned, *out)]
    P = {Y: p for Y, p in pmf(L).items() if set(pinned) <= set(Y) <= {*pinned, *rest}}

    def drawn(s):
        """The probability of each of the others, where each of them multiplies that of a set by e^s."""
        tilted = {Y: p * np.exp(s * len(Y)) for Y, p in P.items()}
        return np.array([sum(p for Y, p in tilted.items() if i in Y) for i in rest]) / sum(tilted.values())

    p = drawn(brentq(lambda s: cost[rest] @ drawn(s) - room, -30.0, 30.0))
    assert np.allclose(chance[rest], p, atol=1e-8)
    assert np.isclose(least, (cost[rest] * p**2).sum() / (cost[rest] * p).sum() / 2)


# A number of sentences


@pytest.mark.parametrize("decoder", list(DECODERS))
@given(
    seed=st.integers(0, 10_000), n=st.integers(1, 30), pins=st.booleans(), diversity=st.sampled_from([0.0, 0.5, 1.0])
)
@settings(max_examples=5, deadline=None)
def test_n_sentences_are_n_where_there_are_n(bundled, decoder, seed, n, pins, diversity):
    prepared = bundled.prepare(made_up(seed))
    exclude = [prepared.n - 1] if pins and prepared.n > 2 else []
    include = [0] if pins and prepared.split.twins[0] not in [prepared.split.twins[i] for i in exclude] else []
    options = {"decoder": decoder, "diversity": diversity, "n_samples": 500, "include": include, "exclude": exclude}
    summary = bundled.summarize(prepared, n, "sentences", **options)
    there = len({prepared.split.twins[i] for i in range(prepared.n) if i not in exclude})
    assert len(summary.sentences) == summary.length == min(n, there)
    assert set(include) <= set(summary.subset.tolist())
    assert not set(exclude) & set(summary.subset.tolist())
    left_out = summary.explain().best_left_out(None)
    assert not [x for x in left_out if x.reason.startswith(("would add nothing", "it would fit"))]  # no slot is free
    codes = {x.code for x in left_out}
    if n >= there:
        assert codes <= {"excluded", "same-words"}


# A share, and what suits the text


def test_a_share_is_one_of_the_words(bundled):
    cluster = Cluster.example()
    total = sum(length(sentence.text, "words") for sentence in cluster.sentences())
    for share in ("5%", "20%", "20 %", "12.5%"):
        summary = bundled.summarize(cluster, share, decoder="greedy")
        assert summary.budget == np.floor(float(share.rstrip("% ")) / 100 * total)
        assert summary.unit == "words"
        assert 0.7 * summary.budget <= summary.length <= summary.budget
    with pytest.raises(ValueError, match="a share of the text"):
        bundled.summarize(cluster, ".5e0%")
    assert bundled.summarize(cluster, "10%", "sentences").length == 7  # of 74
    whole = bundled.summarize(cluster, "100%", "sentences")
    assert whole.length == len(cluster.sentences())


@given(st.floats(1, 1e7), st.floats(1, 10))
def test_what_suits_a_text_grows_slowly_and_is_at_most_a_third(words, more):
    assert suitable_words(words) <= words / 3 + 1e-9
    assert suitable_words(words) <= suitable_words(words * more) <= suitable_words(words) * more + 1e-9


def test_the_default_suits_the_text_and_cuts_nothing(bundled):
    cluster = Cluster.example()
    summary = bundled.summarize(cluster)
    total = sum(length(sentence.text, "words") for sentence in cluster.sentences())
    assert summary.unit == "words"
    assert summary.budget == np.floor(suitable_words(total))
    for unit in ("bytes", "sentences", "tokens"):
        other = bundled.summarize(cluster, unit=unit)
        whole = sum(length(sentence.text, unit) for sentence in cluster.sentences())
        assert abs(other.budget / whole - suitable_words(total) / total) < 0.02
    for texts in (["Rain."], ["The only sentence of them all, and a long one."], ["A storm hit. Rain fell all day."]):
        summary = bundled.summarize(Cluster.from_texts(texts))
        assert summary.note == ""
        assert summary.text in texts[0]


@pytest.mark.parametrize("budget", [10, 10.2, 10.5, 10.75, 11])
def test_tokens_are_counted_whole(budget):
    """What fits the bound on costs is, joined, never longer than the budget."""
    texts = [f"{'x' * k}." for k in range(1, 60)]
    for one, two in itertools.product(texts, repeat=2):
        inside = costs([one, two], "tokens").sum() <= limit(budget, "tokens")
        assert inside == (length(f"{one}\n{two}", "tokens") <= budget)
