"""Extracts to learn from (section 7.1): sentences chosen with the reference summaries in hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpplearn._checks import FloatArray, IntArray

Tokens = Sequence[str]
ORACLES = ("rouge", "paper")


def count_matrix(texts: Sequence[Tokens], vocabulary: dict[str, int]) -> FloatArray:
    """How often each text has each word of the vocabulary."""
    counts = np.zeros((len(texts), len(vocabulary)))
    for row, words in zip(counts, texts, strict=True):
        for word in words:
            if word in vocabulary:
                row[vocabulary[word]] += 1
    return counts


def reference_counts(references: Sequence[Tokens]) -> tuple[dict[str, int], FloatArray]:
    """The words of the references, and how often each reference has each."""
    vocabulary: dict[str, int] = {}
    for words in references:
        for word in words:
            vocabulary.setdefault(word, len(vocabulary))
    return vocabulary, count_matrix(references, vocabulary)


def rouge_oracle(
    sentences: Sequence[Tokens], references: Sequence[Tokens], cost: FloatArray, budget: float
) -> IntArray:
    """Add the sentence that raises the extract's own ROUGE-1 F most, while one does and fits.

    F is that of all references together (ROUGE's average): with H the clipped matches summed over references,
    F = 2 H / (sum of reference lengths + number of references x extract length).

    Examples
    --------
    >>> texts = [["a", "b"], ["a", "b", "c"], ["d"], ["x"]]
    >>> rouge_oracle(texts, [["a", "b", "c", "d"]], np.ones(4), budget=3)
    array([1, 2])
    """
    vocabulary, R = reference_counts(references)
    C = count_matrix(sentences, vocabulary)
    size = np.array([len(words) for words in sentences], np.float64)
    total = sum(len(words) for words in references)

    def scores(have: FloatArray, length: float) -> FloatArray:
        hits = sum(np.minimum(have + C, reference).sum(axis=1) for reference in R)
        return 2 * hits / np.maximum(total + len(R) * (length + size), 1.0)

    return _greedy(scores, C, size, cost, budget)


def paper_oracle(
    sentences: Sequence[Tokens], references: Sequence[Tokens], cost: FloatArray, budget: float
) -> IntArray:
    """Add the sentence with the best mean unigram F to the references, then remove the words it covers from them.

    Examples
    --------
    >>> texts = [["a", "b"], ["a", "b", "c"], ["d"], ["x"]]
    >>> paper_oracle(texts, [["a", "b", "c", "d"]], np.ones(4), budget=3)
    array([1, 2])
    """
    vocabulary, R = reference_counts(references)
    C = count_matrix(sentences, vocabulary)
    size = np.array([len(words) for words in sentences], np.float64)
    chosen: list[int] = []
    left = budget
    while True:
        hits = np.array([np.minimum(C, reference).sum(axis=1) for reference in R])
        lengths = R.sum(axis=1)[:, None] + size
        F = np.divide(2 * hits, lengths, out=np.zeros_like(hits), where=lengths > 0).mean(axis=0)
        F[chosen] = 0.0
        F[cost > left + 1e-9] = 0.0
        best = int(F.argmax())
        if F[best] <= 0.0:
            return np.sort(np.array(chosen, np.int64))
        chosen.append(best)
        left -= cost[best]
        R = np.maximum(R - C[best], 0.0)


def _greedy(
    scores: Callable[[FloatArray, float], FloatArray], C: FloatArray, size: FloatArray, cost: FloatArray, budget: float
) -> IntArray:
    have, length, left, best_score = np.zeros(C.shape[1]), 0.0, budget, 0.0
    chosen: list[int] = []
    while True:
        F = scores(have, length)
        F[chosen] = -1.0
        F[cost > left + 1e-9] = -1.0
        best = int(F.argmax())
        if F[best] <= best_score + 1e-12:
            return np.sort(np.array(chosen, np.int64))
        chosen.append(best)
        have, length, left, best_score = have + C[best], length + size[best], left - cost[best], F[best]
