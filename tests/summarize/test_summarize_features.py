"""The 39 features of section 7.2, tf-idf, centrality, bins and the oracles, against their definitions."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpplearn.summarize import Cluster
from dpplearn.summarize.model.features import (
    FEATURE_SETS,
    GENERAL,
    Feature,
    SentenceFeatures,
    lexrank,
    local_bins,
    mean_similarity,
)
from dpplearn.summarize.model.tfidf import Idf, Numbered, unit_rows


@pytest.fixture(scope="module")
def cluster():
    return Cluster.example()


@pytest.fixture(scope="module")
def fitted(cluster):
    return SentenceFeatures("paper").fit([cluster])


def test_there_are_39_and_each_block_is_what_the_paper_says():
    names = SentenceFeatures("paper").names
    assert len(names) == len(set(names)) == 39
    blocks = ("constant", "length", "position", "similarity", "lexrank")
    assert [sum(name.split()[0] == block for name in names) for block in blocks] == [1, 5, 6, 16, 11]


def test_every_one_hot_block_has_one_one(cluster, fitted):
    read = fitted.read(cluster)
    F = dict(zip(fitted.names, read.F.T, strict=True))
    for block in ("length 1/5", "position 1", "similarity 1/5", "similarity 1/10 of cluster", "lexrank 1/5"):
        assert block in F
    n = len(read.sentences)
    assert (F["constant"] == 1).all()
    for start, end in [(1, 6), (6, 12), (13, 18), (18, 28), (29, 34), (34, 39)]:
        np.testing.assert_array_equal(read.F[:, start:end].sum(axis=1), np.ones(n))
    for i, sentence in enumerate(read.sentences):
        name = f"position {sentence.position}" if sentence.position <= 5 else "position 6+"
        assert F[name][i] == 1


def test_a_new_sentence_feature_is_one_entry(cluster, monkeypatch):
    entry = Feature("questions", lambda read: [text.endswith("?") for text in read.texts], raw=True, prior=0.5)
    monkeypatch.setitem(FEATURE_SETS, GENERAL, (*FEATURE_SETS[GENERAL], entry))
    features = SentenceFeatures().fit([cluster])
    items = features.transform(cluster)
    assert items.names[-1] == features.names[-1] == "questions"
    assert features.priors[-1] == 0.5
    assert items.features[:, -1].tolist() == [s.text.endswith("?") for s in cluster.sentences()]


def test_global_bins_are_equal_shares_of_training(cluster, fitted):
    read = fitted.read(cluster)
    shares = read.F[:, 1:6].mean(axis=0)  # length, of the very cluster it was fitted on
    np.testing.assert_allclose(shares, 0.2, atol=0.05)


def test_raw_columns_are_the_centralities(cluster, fitted):
    read = fitted.read(cluster)
    np.testing.assert_allclose(read.F[:, 12], mean_similarity(read.phi), atol=1e-9)
    np.testing.assert_allclose(read.F[:, 28], lexrank(read.phi), atol=1e-9)


def test_general_features_by_their_definitions(cluster):
    features = SentenceFeatures("general").fit([cluster])
    read = features.read(cluster)
    F = dict(zip(features.names, read.F.T, strict=True))
    assert features.priors.shape == (read.F.shape[1],)
    assert not features.edges
    assert features.idf.documents == 0  # words are weighed by the cluster's own sentences
    assert ((read.F >= 0) & (read.F <= 1)).all()
    document = np.array([sentence.document for sentence in read.sentences])
    pairs = [list(pairwise(tokens)) for tokens in read.words]
    shares = [sum(any(p in q for j, q in enumerate(pairs) if j != i) for p in own) for i, own in enumerate(pairs)]
    shares = np.array([s / (len(own) + 5) for s, own in zip(shares, pairs, strict=True)])
    order = np.argsort(F["repeated word pairs"], kind="stable")
    assert (np.diff(shares[order]) >= -1e-12).all()
    for own in set(document):
        inside = np.flatnonzero(document == own)
        likeness = read.C[np.ix_(inside, document != own)].mean(axis=1)
        by_rank = np.argsort(F["like other documents"][inside], kind="stable")
        assert (np.diff(likeness[by_rank]) >= -1e-9).all()
    first = np.array([sentence.position == 1 for sentence in read.sentences])
    assert (F["toward the beginning"][first] == 1).all()
    assert (F["among the first"][~first] < 1).all()
    assert (F["end of a long document"] == 0).all()  # articles are short


def rows_of(idf, texts):
    numbered, columns = Numbered.of(texts)
    return unit_rows(numbered.counts(), idf.weights(columns))


def test_unfitted_and_empty():
    with pytest.raises(RuntimeError, match="not fitted"):
        SentenceFeatures().read(Cluster.from_texts(["A b."]))
    with pytest.raises(ValueError, match="at least one training cluster"):
        SentenceFeatures().fit([])
    with pytest.raises(ValueError, match="features must be one of 'paper', 'general'"):
        SentenceFeatures("more")
    with pytest.raises(ValueError, match="no sentence with a word"):
        SentenceFeatures("paper").fit([Cluster.from_texts(["... !!!"])])


def test_tf_idf_by_hand():
    idf = Idf.fit([["a", "b", "a"], ["a", "c"], ["a"]])
    assert idf.counts == {"a": 3, "b": 1, "c": 1}
    assert idf.weights(["b"])[0] == pytest.approx(math.log(4 / 2))
    assert idf.weights(["never"])[0] == pytest.approx(math.log(4))
    assert idf.weights(["a"])[0] == 1e-3
    rows = rows_of(idf, [["b", "b", "c"], ["c"]]).toarray()
    expected = np.array([2.0, 1.0]) / math.sqrt(5)
    np.testing.assert_allclose(rows[0], expected)
    np.testing.assert_allclose((rows @ rows.T)[0, 1], expected[1])


def test_lexrank_is_the_fixed_point(rng):
    phi = rng.random((12, 5))
    phi /= np.linalg.norm(phi, axis=1, keepdims=True)
    C, p = phi @ phi.T, lexrank(phi) / 12
    walk = (C / C.sum(axis=1, keepdims=True)).T
    np.testing.assert_allclose(p, 0.15 / 12 + 0.85 * walk @ p)
    assert p.sum() == pytest.approx(1.0)
    assert mean_similarity(np.ones((1, 1))).tolist() == [0.0]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.integers(1, 10))
def test_local_bins_of_any_values(values, bins):
    values = np.array(values, float)
    index = local_bins(values, bins)
    assert index.min() >= 0
    assert index.max() < bins
    for a in range(values.size):
        for b in range(values.size):
            assert (values[a] < values[b]) <= (index[a] <= index[b])
            assert (values[a] == values[b]) <= (index[a] == index[b])
