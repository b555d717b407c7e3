"""Averages over a corpus, and the paired test."""

import numpy as np
import pytest

from dpplearn.rouge import CorpusScore, EmptyTextWarning, Score, paired_bootstrap, score_corpus
from rouge_literal import literal_average

CANDIDATES = {"10": "the cat sat", "2": "a dog ran", "2-b": "birds"}
REFERENCES = {
    "2": ["a dog ran off", "the dog"],
    "2-b": ["birds sing", "a bird"],
    "10": ["the cat", "cats sit", "sat"],
}


def corpus_of(values):
    """A corpus with these recalls."""
    evaluations = {str(i): {"rouge-1": Score(x, x, x)} for i, x in enumerate(values)}
    return CorpusScore({"rouge-1": ()}, evaluations)


def test_evaluations_are_in_the_order_of_bytes_of_id_and_system():
    result = score_corpus(CANDIDATES, REFERENCES, ["rouge-1"], system="S")
    assert list(result.evaluations) == ["10", "2-b", "2"]  # "10.S" < "2-b.S" < "2.S"
    triples = [result.evaluations[name]["rouge-1"] for name in result.evaluations]
    assert result.averages["rouge-1"] == tuple(literal_average(triples, 95, 1000))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: score_corpus({"a": "x"}, {"b": ["x"], "c": ["x"]}), "lacks a, b, c"),
        (lambda: score_corpus({}, {}), "at least one candidate"),
        (lambda: score_corpus({"a": "x"}, {"a": ["x"]}, level=1.0), "level"),
        (lambda: score_corpus({"a": "x"}, {"a": ["x"]}, level=95), "such as 0.95"),
        (lambda: score_corpus({"a": "x"}, {"a": ["x"]}, resamples=1), "resamples"),
        (lambda: paired_bootstrap(corpus_of([1]), corpus_of([1]), level=95), "such as 0.95"),
        (lambda: paired_bootstrap(corpus_of([1]), corpus_of([1]), resamples=0), "resamples must be at least 1"),
        (lambda: paired_bootstrap(corpus_of([1]), corpus_of([1]), "rouge-2"), r"metric .*'rouge-2'"),
        (lambda: paired_bootstrap(corpus_of([1]), corpus_of([1]), measure="r"), "measure"),
        (lambda: paired_bootstrap(corpus_of([1]), CorpusScore({"rouge-1": ()}, {})), "a topic in common"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_paired_test_sees_a_small_difference_on_hard_and_easy_topics():
    rng = np.random.default_rng(0)
    level = rng.random(60)
    test = paired_bootstrap(corpus_of(level + rng.normal(0.01, 0.01, 60)), corpus_of(level))
    assert test.p_value < 1e-3
    assert 0 < test.low < 0.01 < test.high < 0.02


@pytest.mark.parametrize("n", [8, 40])
def test_paired_test_is_seldom_wrong_where_there_is_no_difference(n):
    rng = np.random.default_rng(1)
    pairs = [(corpus_of(rng.random(n)), corpus_of(rng.random(n))) for _ in range(300)]
    wrong = sum(paired_bootstrap(*pair, resamples=500, rng=rng).p_value < 0.05 for pair in pairs)
    assert 2 <= wrong <= 30  # 15 expected, fewer on few topics; more than 30 has a probability of 2e-4


def test_empty_texts_are_averaged_in_and_named():
    candidates, references = {**CANDIDATES, "2": "--", "10": ""}, {**REFERENCES, "2-b": ["birds", "..."]}
    with pytest.warns(EmptyTextWarning) as caught:
        result = score_corpus(candidates, references, ["rouge-1", "rouge-w-1.2"], system="S")
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == 2
    assert messages[0].startswith("A candidate of system S has no token and counts as 0, on: 10, 2. Check")
    assert messages[1].startswith("A reference has no token and counts as 0, on: 2-b. Check")
    assert {warning.filename for warning in caught} == {__file__}
    assert result.by_topic("rouge-1") == {"10": 0, "2": 0, "2-b": 1}
