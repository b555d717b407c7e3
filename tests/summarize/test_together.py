"""The model inside, of several corpora: shared weights, constants that are not shared, and what each counts."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dpplearn.learning.conditional import ConditionalDPP
from dpplearn.learning.itemset import ItemSet
from dpplearn.summarize import Cluster, SentenceFeatures, Summarizer
from dpplearn.summarize.model.oracle import training_targets

sys.path.append(str(Path(__file__).parents[2] / "scripts"))
from make_model import Corpus, train_together  # how the model inside is made


def news():
    example = Cluster.example()
    return [Cluster(example.documents[k : k + 4], example.references, f"n{k}", "english") for k in (0, 2, 4)]


def reviews():
    lines = ["The room was clean and quiet.", "A clean room with a fine view of the sea.", "The staff was kind to us."]
    lines += [f"We paid {k} for the breakfast and the {what}." for k, what in enumerate(("tea", "room", "view"))]
    return [Cluster.from_texts(["\n".join(lines)], references=["A clean room and kind staff."], id="r", language="fr")]


@pytest.fixture(scope="module")
def asked():
    return Summarizer(features="general", budget=60, unit="words", language="any")


def test_it_is_the_fit_of_all_examples_with_a_constant_for_each_corpus(asked):
    corpora = [Corpus("news", news(), 60, weight=3.0), Corpus("reviews", reviews(), 12, weight=1.0)]
    found = train_together(asked.settings, corpora)
    features = SentenceFeatures("general").fit(news())
    X, y, weight = [], [], []
    for k, (cluster, budget) in enumerate([*((c, 60) for c in news()), *((c, 12) for c in reviews())]):
        read = features.read(cluster)
        targets = training_targets(read, replace(asked.settings, budget=budget, language=cluster.language))
        kept = [i for i, text in enumerate(read.texts) if len(text.split()) <= budget]
        assert all(set(Y) <= set(kept) for Y in targets)
        constants = np.tile([1.0, 0.0] if k < 3 else [0.0, 1.0], (len(kept), 1))
        items = ItemSet(np.hstack([constants, read.F[kept, 1:]]), read.C[np.ix_(kept, kept)])
        for Y in targets:
            X.append(items)
            y.append([kept.index(i) for i in Y])
            weight.append(1.0 / len(targets))
    variance = np.concatenate([[np.inf, np.inf], features.priors[1:]])
    model = ConditionalDPP(variance, rho=0.3).fit(X, y, weight)
    np.testing.assert_allclose(found.model.theta_, np.delete(model.theta_, 1), atol=1e-5)
    np.testing.assert_allclose(found.model.theta_std_, np.delete(model.theta_std_, 1), rtol=1e-4)
    assert found.training["corpora"]["reviews"]["constant"] == pytest.approx(model.theta_[1], abs=1e-5)
