"""How long a summary is: a limit that is not filled with what is not worth having, a number of sentences, a share."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute import pmf
from dpplearn.decoding.candidates import read_model
from dpplearn.decoding.registry import DECODERS
from dpplearn.dpp import DPP
from dpplearn.summarize import Cluster, Summarizer
from dpplearn.summarize.explain import topics
from dpplearn.summarize.model.worth import Worth
from dpplearn.summarize.text.units import costs, length, limit, suited
from made_up import made_up

NONE = np.empty(0, np.int64)


@pytest.fixture(scope="module")
def bundled():
    return Summarizer.load()


# What is worth having


def kernel(seed, n=6):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n)) * rng.uniform(0.2, 1.5, (n, 1))
    return B @ B.T, rng.uniform(1.0, 5.0, n)


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_at_a_length_are_those_of_the_definition(seed):
    """p_i = P(i in R | Y in R) for R drawn from e^s L, by summing over all subsets."""
    L, cost = kernel(seed)
    worth = Worth.of(read_model(DPP(L), 0.5), cost, 7.0, NONE, NONE)
    K = worth.rows @ worth.rows.T
    assert np.isclose(cost @ K.diagonal(), 7.0)  # the length on average
    tilted = np.linalg.inv(np.eye(6) - K) @ K  # L = K (I - K)^-1
    assert np.allclose(tilted / L, (tilted / L)[0, 0])  # one factor on the model's kernel
    P = pmf(tilted)
    both = {Y: sum(p for Z, p in P.items() if set(Y) <= set(Z)) for Y in P}
    for Y in [(), (1,), (0, 3), (2, 4, 5)]:
        p = worth.given(np.array(Y, np.int64))
        for i in range(6):
            expected = 0.0 if i in Y else both[tuple(sorted({*Y, i}))] / both[Y]
            assert np.isclose(p[i], expected, atol=1e-9)
        if Y:
            others = [both[Y] / both[tuple(j for j in Y if j != i)] for i in Y]
            assert np.allclose(1.0 / worth.precision(np.array(Y)).diagonal(), others, atol=1e-8)
    k = K.diagonal()
    assert np.isclose(worth.least, (cost * k**2).sum() / (cost * k).sum() / 2)


def test_what_depends_on_the_rest_is_worth_nothing():
    B = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    worth = Worth.of(read_model(DPP(B @ B.T), 0.5), np.ones(3), 1.5, NONE, NONE)
    assert worth.given(np.array([0, 1]))[2] < 1e-12
    assert worth.without_filler(np.array([0, 1, 2]), NONE).size == 2
    everything = worth.filled(np.array([0]), lambda Y, among: among & ~np.isin(np.arange(3), Y), least=0.0)
    assert everything.tolist() == [0, 1, 2]


@pytest.mark.parametrize("decoder", ["consensus", "greedy", "local"])
def test_filler_is_left_out_and_said_to_be(bundled, decoder):
    """Scraps among sentences of news, with room for all of them: none comes in, and the reason says why."""
    documents = [f"{document.text}\n\nFig. 3.\n\nNone.\n\nAnd so on." for document in Cluster.example().documents]
    cluster = Cluster.from_texts(documents)
    scraps = ("Fig. 3.", "None.", "And so on.")
    summary = bundled.summarize(cluster, 102, "words", decoder=decoder, n_samples=2_000, keep_all=True)
    assert not set(scraps) & {sentence.text for sentence in summary.sentences}
    worth = summary.worth
    fits = [
        x for x in summary.explain().best_left_out(None) if summary.length + length(x.sentence.text, "words") <= 102
    ]
    for x in fits:
        if x.code == "adds-nothing":
            assert worth.likely[x.number] < worth.least
            assert x.reason.startswith("would add nothing")
    filled = bundled.summarize(cluster, 102, "words", decoder=decoder, n_samples=2_000, keep_all=True, fill=True)
    assert filled.length <= 102
    if decoder == "greedy":  # which is filled with whatever fits, as Algorithm 2 has it
        assert set(scraps) & {sentence.text for sentence in filled.sentences}
        assert len(filled.sentences) > len(summary.sentences)


@pytest.mark.parametrize("decoder", ["greedy", "local"])
def test_most_probable_sets_have_all_that_is_worth_having_and_fits(bundled, decoder):
    for seed, budget in itertools.product(range(4), (12, 30)):
        ready = bundled.prepare(made_up(seed))
        summary = bundled.summarize(ready, budget, "words", decoder=decoder, n_samples=2_000)
        allowed = ready.allowed(NONE, NONE)
        for i in set(np.flatnonzero(allowed)) - set(summary.subset.tolist()):
            if summary.length + length(ready.read.texts[i], "words") <= budget:
                assert summary.worth.likely[i] < summary.worth.least


# A number of sentences


@pytest.mark.parametrize("decoder", list(DECODERS))
@given(
    seed=st.integers(0, 10_000), n=st.integers(1, 30), pins=st.booleans(), diversity=st.sampled_from([0.0, 0.5, 1.0])
)
@settings(max_examples=5, deadline=None)
def test_n_sentences_are_n_where_there_are_n(bundled, decoder, seed, n, pins, diversity):
    ready = bundled.prepare(made_up(seed))
    exclude = [ready.n - 1] if pins and ready.n > 2 else []
    include = [0] if pins and ready.said[0] not in [ready.said[i] for i in exclude] else []
    options = {"decoder": decoder, "diversity": diversity, "n_samples": 500, "include": include, "exclude": exclude}
    summary = bundled.summarize(ready, n, "sentences", **options)
    there = len({ready.said[i] for i in range(ready.n) if i not in exclude})
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
    for share in ("5%", "20%", "20 %", "12.5%", ".5e0%"):
        if "e" in share:
            with pytest.raises(ValueError, match="a share of the text"):
                bundled.summarize(cluster, share)
            continue
        summary = bundled.summarize(cluster, share, decoder="greedy")
        assert summary.budget == np.floor(float(share.rstrip("% ")) / 100 * total)
        assert (summary.unit, summary.length <= summary.budget) == ("words", True)
        assert summary.length >= 0.7 * summary.budget
    assert bundled.summarize(cluster, "10%", "sentences").length == 7  # of 74
    whole = bundled.summarize(cluster, "100%", "sentences")
    assert whole.length == len(cluster.sentences())


@given(st.floats(1, 1e7), st.floats(1, 10))
def test_what_suits_a_text_grows_slowly_and_is_at_most_a_third(words, more):
    assert suited(words) <= words / 3 + 1e-9
    assert suited(words) <= suited(words * more) <= suited(words) * more + 1e-9


def test_the_default_suits_the_text_and_cuts_nothing(bundled):
    cluster = Cluster.example()
    summary = bundled.summarize(cluster)
    total = sum(length(sentence.text, "words") for sentence in cluster.sentences())
    assert summary.unit == "words"
    assert summary.budget == np.floor(suited(total))
    for unit in ("bytes", "sentences", "tokens"):
        other = bundled.summarize(cluster, unit=unit)
        whole = sum(length(sentence.text, unit) for sentence in cluster.sentences())
        assert abs(other.budget / whole - suited(total) / total) < 0.02
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


# Many sentences


@pytest.mark.parametrize("seed", range(3))
def test_steps_are_those_of_the_definition(seed):
    """Sets that grow and shrink by updates of what is known are those of computing it anew, dependent rows or not."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(24, 9)) * rng.uniform(0.1, 2.0, (24, 1))  # of rank 9: most sets depend
    B[20:] = B[:4]
    cost = rng.uniform(1.0, 5.0, 24)
    worth = Worth.of(read_model(DPP(B @ B.T), 0.5), cost, 14.0, NONE, NONE)

    asked = []

    def room(Y, among):
        free = among & (cost[Y].sum() + cost <= 40.0) & ~np.isin(np.arange(24), Y)
        asked.append((among, free))
        return free

    for least in (None, 0.0):
        Y, floor = np.array([3, 8]), worth.least if least is None else least
        while (free := room(Y, worth.given(Y).round(12) >= floor)).any():
            p = worth.given(Y).round(12)
            Y = np.append(Y, max(np.flatnonzero(free), key=lambda i: (p[i], worth.given(NONE)[i], i)))
        asked.clear()
        assert worth.filled(np.array([3, 8]), room, least=least).tolist() == sorted(Y)
        for (_, free), (among, _) in itertools.pairwise(asked):  # what did not fit is not measured again
            assert not (among & ~free).any()
    Y = np.sort(rng.choice(20, 8, replace=False))
    kept = worth.without_filler(Y, NONE)
    while Y.size > 1:
        p = 1.0 / worth.precision(Y).diagonal()
        if p.min() >= worth.least:
            break
        Y = np.delete(Y, p.argmin())
    assert kept.tolist() == Y.tolist()


@pytest.mark.parametrize("decoder", ["consensus", "greedy"])
def test_what_adds_nothing_is_what_the_decoder_was_not_given(bundled, decoder, monkeypatch):
    """A consensus weighs repetition itself: of what it might have taken, the set is better without it."""
    monkeypatch.setattr(topics, "MOST", 2.0)  # that it is said already is said before
    seen = set()
    for seed, budget in ((11, 16), (36, 12), (1, 30), (2, 22)):
        ready = bundled.prepare(made_up(seed))
        summary = bundled.summarize(ready, budget, "words", decoder=decoder)
        out = np.flatnonzero(~ready.allowed(NONE, NONE))
        worth = Worth.of(ready.kernel(0.5), ready.read.costs("words"), budget, NONE, out)
        measured = worth.given(NONE if decoder == "consensus" else summary.subset)
        for x in summary.explain().best_left_out(None):
            if x.reason.startswith(("would add nothing", "it would fit")):
                seen.add(x.code)
                assert (x.code == "adds-nothing") == (measured[x.number] < worth.least)
    assert decoder == "consensus" or "adds-nothing" in seen


@pytest.mark.parametrize(("diversity", "never"), [(0.0, "redundant"), (1.0, "weaker")])
def test_no_reason_is_what_did_not_count(bundled, diversity, never):
    """At diversity 0 no sentence is left out for being said already, at 1 none for its quality."""
    codes = {0.5: set(), diversity: set()}
    for seed, d in itertools.product(range(10), codes):
        summary = bundled.summarize(made_up(seed), 20, "words", decoder="greedy", diversity=d)
        codes[d] |= {x.code for x in summary.explain().best_left_out(None)}
    assert never in codes[0.5]
    assert never not in codes[diversity]
