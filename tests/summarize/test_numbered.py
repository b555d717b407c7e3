"""Words as numbers, against counting them in Python."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpplearn.summarize import Cluster
from dpplearn.summarize.model.numbered import Numbered, firsts
from dpplearn.summarize.model.split_cluster import split_cluster
from dpplearn.summarize.model.tokens import numbered_matches, numbered_words
from dpplearn.summarize.text.matching import match_words
from dpplearn.summarize.text.words import words

TEXTS = st.lists(st.lists(st.sampled_from("abcde"), max_size=6), min_size=1, max_size=6)


def check(found, texts, columns):
    """All that is counted, where `columns` has the number of each word."""
    words = list(columns)
    assert found.size == len(words)
    want = [[Counter(text)[word] for word in words] for text in texts]
    np.testing.assert_array_equal(found.counts().toarray()[:, : len(words)], np.array(want).reshape(len(texts), -1))
    assert found.in_several().tolist() == [sum(word in text for text in texts) > 1 for word in words]
    group = np.arange(len(texts)) // 2
    with_word = [{g for g, text in zip(group, texts, strict=True) if word in text} for word in words]
    assert found.groups_with(group).tolist() == [len(some) for some in with_word]
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


@pytest.mark.parametrize("most", [1, 7, 10**6, 2**61])
@pytest.mark.parametrize("size", [0, 1, 200])
def test_firsts_as_unique(size, most):
    keys = np.random.default_rng(size).integers(0, most, size)
    keys[size // 2 :] = keys[: size - size // 2]
    first, which = firsts(keys)
    _, expected, number = np.unique(keys, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_array_equal(which, number)


def test_repeats_are_told_by_sums():
    text = "Rain fell on Oslo at night. At night on Oslo fell rain. The river rose by a metre."
    twice = split_cluster(Cluster.from_texts([text]))
    assert twice.twins == [0, 0, 2]
    assert twice.considered([1, 2, 0]) == {0: 1, 2: 2}
    once = split_cluster(Cluster.from_texts(["Rain fell on Oslo at night. The river rose by a metre."]))
    assert once.twins == [0, 1]


PARTS = ["u.s", "U.S.'s", "it's", "A.B.C.", "1,200", "12,345,678", "1,2000", "3.5", "1990's", "b2,300", "12a3,400"]
PARTS += ["x'y's", "i.e.,", "a.b1", "9,999,", "mayor's,", "..", "'tis", "dogs'", "U.S.-led", "20th", "1.2.3", "a_b"]
PARTS += [
    "Rain",
    "rain",
    "'s",
    "\u2173",
    "\ufb01",
    "\u00bd",
    "\u5927\u6865",
    "caf\u00e9",
    "don\u2019t",
    "\u0301",
    "\u00ad",
]
PARTS += ["\ud800"]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.builds(str.join, st.sampled_from([" ", "", ","]), st.lists(st.sampled_from(PARTS), max_size=6))))
def test_words_and_stems_are_numbered_as_they_are_read(texts):
    found, columns = numbered_words(texts)
    expected, known = Numbered.of([words(text) for text in texts])
    assert_same(found, expected)
    assert dict(columns) == known
    assert list(columns) == list(known)
    assert columns.spelling.letters.tolist() == [*map(len, known)]
    for language in (None, "greek"):
        expected, _ = Numbered.of([match_words(text, language) for text in texts])
        assert_same(numbered_matches(texts, language), expected)


def assert_same(found, expected):
    assert found.size == expected.size
    np.testing.assert_array_equal(found.numbers, expected.numbers)
    np.testing.assert_array_equal(found.ends, expected.ends)


def test_many_words_outgrow_the_first_table():
    texts = [" ".join(f"w{i * j}" for j in range(400)) for i in range(60)]
    assert_same(numbered_words(texts)[0], Numbered.of([words(text) for text in texts])[0])
