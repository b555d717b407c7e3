"""The baselines of section 7.3 against their definitions."""

import numpy as np
import pytest

from dpplearn.dpp import DPP
from dpplearn.summarize import Cluster, SentenceFeatures
from dpplearn.summarize.experiments.systems import (
    Logistic,
    begin,
    lexrank_items,
    mmr_items,
    random_items,
    submod_items,
)
from dpplearn.summarize.text.units import costs


@pytest.fixture(scope="module")
def reads():
    example = Cluster.example()
    clusters = [Cluster(example.documents[k : k + 3], example.references[:2], id=f"part{k}") for k in range(5)]
    features = SentenceFeatures().fit(clusters)
    return [features.read(cluster) for cluster in clusters]


@pytest.fixture(scope="module")
def read(reads):
    return reads[0]


@pytest.mark.parametrize(("budget", "unit"), [(40, "words"), (300, "bytes"), (2, "sentences"), (60, "tokens")])
def test_every_baseline_keeps_to_the_budget(read, budget, unit):
    q = np.linspace(0, 1, len(read.texts))
    for items in (
        random_items(0, read, budget, unit),
        lexrank_items(read, budget, unit),
        mmr_items(read, q, 0.5, budget, unit),
        submod_items(read, budget, unit),
    ):
        assert items.size
        assert np.array_equal(items, np.unique(items))
        joint = 1 if unit == "bytes" else 0
        assert costs(read.texts, unit)[items].sum() - joint <= budget
    text = begin(read, budget, unit)
    if unit == "bytes":
        assert len(text.encode()) <= budget
    assert "\n".join(read.texts).startswith(text)


def test_begin_fills_the_budget(read):
    assert len(begin(read, 45, "words").split()) == 45
    assert begin(read, 1, "sentences") == read.texts[0]
    assert begin(read, 10**6, "bytes") == "\n".join(read.texts)


def brute_mmr(read, q, tradeoff, budget):
    """Equation 21 as it stands."""
    cost, Y, left = costs(read.texts, "words"), [], budget
    while rest := [i for i in range(len(q)) if i not in Y and cost[i] <= left]:
        scores = [tradeoff * q[i] - (1 - tradeoff) * max((read.C[i, j] for j in Y), default=0.0) for i in rest]
        Y.append(rest[int(np.argmax(scores))])
        left -= cost[Y[-1]]
    return sorted(Y)


@pytest.mark.parametrize("tradeoff", [0.0, 0.3, 0.8, 1.0])
def test_mmr_is_equation_21(read, tradeoff, rng):
    q = rng.random(len(read.texts))
    assert mmr_items(read, q, tradeoff, 70, "words").tolist() == brute_mmr(read, q, tradeoff, 70)


def brute_submod(read, budget, r=0.3, lam=4.0):
    """The objective evaluated anew for every candidate, as Lin and Bilmes write it."""
    cost, n = costs(read.texts, "words"), len(read.texts)

    def f(Y):
        cover = sum(read.C[i, j] for i in range(n) if i not in Y for j in Y)
        return cover - lam * sum(read.C[i, j] for i in Y for j in Y if i != j)

    Y, left = [], list(range(n))
    while left:
        best = max(left, key=lambda i: (f([*Y, i]) - f(Y)) / cost[i] ** r)
        left.remove(best)
        if cost[Y].sum() + cost[best] <= budget and f([*Y, best]) >= f(Y):
            Y.append(best)
    single = max((i for i in range(n) if cost[i] <= budget), key=lambda i: f([i]))
    return sorted(Y) if f(Y) >= f([single]) else [single]


@pytest.mark.parametrize(("budget", "r", "lam"), [(25, 0.3, 4.0), (70, 0.3, 4.0), (70, 1.0, 0.5), (30, 3.0, 6.0)])
def test_submod_is_its_definition(read, budget, r, lam):
    assert submod_items(read, budget, "words", r, lam).tolist() == brute_submod(read, budget, r, lam)


def test_logistic_regression_finds_what_its_labels_follow(reads):
    """Labels given by one feature: first sentences of documents."""
    targets = [np.flatnonzero([s.position == 1 for s in one.sentences]) for one in reads]
    model = Logistic.fit(reads, targets)
    p = model.probabilities(reads[0])
    assert p[targets[0]].min() > np.delete(p, targets[0]).max()
    # if no two sentences were alike, the DPP with q^2 = odds would include each with its probability
    q = np.exp(reads[0].F @ model.w / 2)
    assert DPP.from_quality(q, np.eye(q.size)).marginals == pytest.approx(p)
    assert model.dpp(0.3, reads[0], 60, "words").size
    assert np.all(Logistic.fit(reads[:1], [np.arange(0)]).w == 0)  # nothing to tell apart
