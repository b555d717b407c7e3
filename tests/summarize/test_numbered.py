"""Words as numbers, against counting them in Python."""

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpplearn.summarize import Cluster
from dpplearn.summarize.model.split_cluster import split_cluster
from dpplearn.summarize.model.tfidf import Numbered

TEXTS = st.lists(st.lists(st.sampled_from("abcde"), max_size=6), min_size=1, max_size=6)


def check(found, texts, columns):
    """All that is counted, where `columns` has the number of each word."""
    words = list(columns)
    assert found.size == len(words)
    want = [[Counter(text)[word] for word in words] for text in texts]
    np.testing.assert_array_equal(found.counts().toarray()[:, : len(words)], np.array(want).reshape(len(texts), -1))
    assert found.in_several().tolist() == [sum(word in text for text in texts) > 1 for word in words]
    values = np.arange(1.0, len(words) + 1)
    assert found.sums(values).tolist() == [sum(values[columns[word]] for word in text) for text in texts]


@given(TEXTS)
def test_counts(texts):
    found, columns = Numbered.of(texts)
    assert list(columns) == list(dict.fromkeys(word for text in texts for word in text))
    check(found, texts, columns)
    pairs = [list(pairwise(text)) for text in texts]
    order = {pair: number for number, pair in enumerate(dict.fromkeys(pair for some in pairs for pair in some))}
    check(found.pairs(), pairs, order)


def test_repeats_are_told():
    text = "Rain fell on Oslo at night. At night on Oslo fell rain. The river rose by a metre."
    twice = split_cluster(Cluster.from_texts([text]))
    assert twice.twins == [0, 0, 2]
    assert twice.considered([1, 2, 0]) == {0: 1, 2: 2}
    once = split_cluster(Cluster.from_texts(["Rain fell on Oslo at night. The river rose by a metre."]))
    assert once.twins == [0, 1]
