"""Extracts to learn from (section 7.1): sentences chosen with the reference summaries in hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.limits import roomy
from dpplearn.summarize.model.tfidf import word_counts

Tokens = Sequence[str]


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
    R, C = shared_counts(references, sentences)
    size = np.array([len(words) for words in sentences], np.float64)
    total = sum(len(words) for words in references)

    have, length, left, best_score = np.zeros(C.shape[1]), 0.0, budget, 0.0
    chosen: list[int] = []
    while True:
        hits = sum(np.minimum(have + C, reference).sum(axis=1) for reference in R)
        F = 2 * hits / np.maximum(total + len(R) * (length + size), 1.0)
        F[chosen] = -1.0
        F[cost > roomy(left)] = -1.0
        best = int(F.argmax())
        if F[best] <= best_score + 1e-12:
            return np.sort(np.array(chosen, np.int64))
        chosen.append(best)
        have, length, left, best_score = have + C[best], length + size[best], left - cost[best], F[best]


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
    R, C = shared_counts(references, sentences)
    size = np.array([len(words) for words in sentences], np.float64)
    chosen: list[int] = []
    left = budget
    while True:
        hits = np.array([np.minimum(C, reference).sum(axis=1) for reference in R])
        lengths = R.sum(axis=1)[:, None] + size
        F = np.divide(2 * hits, lengths, out=np.zeros_like(hits), where=lengths > 0).mean(axis=0)
        F[chosen] = 0.0
        F[cost > roomy(left)] = 0.0
        best = int(F.argmax())
        if F[best] <= 0.0:
            return np.sort(np.array(chosen, np.int64))
        chosen.append(best)
        left -= cost[best]
        R = np.maximum(R - C[best], 0.0)


def shared_counts(references: Sequence[Tokens], sentences: Sequence[Tokens]) -> tuple[FloatArray, FloatArray]:
    """How often each reference, and each sentence, has each word of the references."""
    R, vocabulary = word_counts(references)
    return R.toarray(), word_counts(sentences, vocabulary)[0].toarray()


ORACLES: dict[str, Callable[[Sequence[Tokens], Sequence[Tokens], FloatArray, float], IntArray]] = {
    "rouge": rouge_oracle,
    "paper": paper_oracle,
}
