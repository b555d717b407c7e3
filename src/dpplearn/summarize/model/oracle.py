"""Extracts to learn from (section 7.1): sentences chosen with the reference summaries in hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.limits import fits
from dpplearn.summarize.model.tfidf import word_counts

Tokens = Sequence[str]


def pairs_oracle(
    sentences: Sequence[Tokens],
    references: Sequence[Tokens],
    cost: FloatArray,
    budget: float,
    exclusive: IntArray | None = None,
) -> IntArray:
    """Add the sentence that raises the extract's own ROUGE-1 F plus ROUGE-2 F most, while one does and fits.

    Examples
    --------
    >>> texts = [["c", "b", "a", "d"], ["a", "b", "c"], ["d", "x"]]
    >>> pairs_oracle(texts, [["a", "b", "c", "d"]], np.ones(3), budget=1)
    array([1])
    """
    return raise_f(sentences, references, cost, budget, (as_they_are, in_pairs), exclusive)


def rouge_oracle(
    sentences: Sequence[Tokens],
    references: Sequence[Tokens],
    cost: FloatArray,
    budget: float,
    exclusive: IntArray | None = None,
) -> IntArray:
    """Add the sentence that raises the extract's own ROUGE-1 F most, while one does and fits.

    Examples
    --------
    >>> texts = [["a", "b"], ["a", "b", "c"], ["d"], ["x"]]
    >>> rouge_oracle(texts, [["a", "b", "c", "d"]], np.ones(4), budget=3)
    array([1, 2])
    """
    return raise_f(sentences, references, cost, budget, (as_they_are,), exclusive)


def raise_f(
    sentences: Sequence[Tokens],
    references: Sequence[Tokens],
    cost: FloatArray,
    budget: float,
    readings: Sequence[Callable[[Tokens], Tokens]],
    exclusive: IntArray | None = None,
) -> IntArray:
    """Add the sentence that raises the sum of F over some readings of the texts most.

    F is that of all references together (ROUGE's average): with H the clipped matches summed over references,
    F = 2 H / (sum of reference lengths + number of references x extract length).
    """
    parts = [
        (shared_counts(theirs, ours), np.array([len(one) for one in ours], np.float64), sum(map(len, theirs)))
        for theirs, ours in ([[*map(read, texts)] for texts in (references, sentences)] for read in readings)
    ]

    def score(Y: list[int]) -> FloatArray:
        now, then = 0.0, np.zeros(len(sentences))
        for (R, C), size, total in parts:
            have, length, n = C[Y].sum(axis=0), size[Y].sum(), len(R)
            hits = sum(np.minimum(have + C, reference).sum(axis=1) for reference in R)
            then += 2 * hits / np.maximum(total + n * (length + size), 1.0)
            now += 2 * np.minimum(have, R).sum() / max(total + n * length, 1.0)
        return np.where(then > now + 1e-12, then, -np.inf)

    return fill(cost, budget, score, exclusive)


def as_they_are(tokens: Tokens) -> Tokens:
    """The words themselves."""
    return tokens


def in_pairs(tokens: Tokens) -> Tokens:
    """The words of a text, two by two in a row.

    Examples
    --------
    >>> in_pairs(["rain", "fell", "again"])
    ['rain fell', 'fell again']
    """
    return [f"{a} {b}" for a, b in pairwise(tokens)]


def paper_oracle(
    sentences: Sequence[Tokens],
    references: Sequence[Tokens],
    cost: FloatArray,
    budget: float,
    exclusive: IntArray | None = None,
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

    def score(Y: list[int]) -> FloatArray:
        left = np.maximum(R - C[Y].sum(axis=0), 0.0)
        hits = np.array([np.minimum(C, reference).sum(axis=1) for reference in left])
        lengths = left.sum(axis=1)[:, None] + size
        F = np.divide(2 * hits, lengths, out=np.zeros_like(hits), where=lengths > 0).mean(axis=0)
        return np.where(F > 0.0, F, -np.inf)

    return fill(cost, budget, score, exclusive)


def fill(
    cost: FloatArray, budget: float, score: Callable[[list[int]], FloatArray], exclusive: IntArray | None = None
) -> IntArray:
    """Add the item that scores highest beside those chosen, of those that still fit, until none is above -inf.

    Of items that have the same number in `exclusive`, forms of one sentence, only one is added.

    Examples
    --------
    >>> fill(np.array([2.0, 1.0, 2.0]), 3.0, lambda chosen: np.array([1.0, 2.0, 3.0]))
    array([1, 2])
    """
    free, chosen = np.ones(cost.size, np.bool_), list[int]()
    while (free := free & fits(cost, budget)).any():
        value = np.where(free, score(chosen), -np.inf)
        best = int(value.argmax())
        if value[best] == -np.inf:
            break
        chosen.append(best)
        free[[best] if exclusive is None else exclusive == exclusive[best]] = False
        budget -= cost[best]
    return np.sort(np.array(chosen, np.int64))


def shared_counts(references: Sequence[Tokens], sentences: Sequence[Tokens]) -> tuple[FloatArray, FloatArray]:
    """How often each reference, and each sentence, has each word of the references."""
    R, vocabulary = word_counts(references)
    return R.toarray(), word_counts(sentences, vocabulary)[0].toarray()


ORACLES: dict[str, Callable[[Sequence[Tokens], Sequence[Tokens], FloatArray, float, IntArray | None], IntArray]] = {
    "pairs": pairs_oracle,
    "rouge": rouge_oracle,
    "paper": paper_oracle,
}
