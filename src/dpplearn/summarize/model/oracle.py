"""Oracle extracts, which training learns from: sentences chosen by the reference summaries (section 7.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.limits import fits
from dpplearn.summarize.model.settings import SummarizerSettings
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.model.tfidf import Numbered
from dpplearn.summarize.text.units import cut, limit
from dpplearn.summarize.text.words import match_words

Tokens: TypeAlias = Sequence[str]


class Overlap:
    """The words, or pairs of words, that sentences have in common with references.

    R has how often each reference has each gram. `lengths` and `size` count all grams of a reference and of a sentence.

    Examples
    --------
    >>> words, pairs = Overlap.of([["rain", "fell"], ["rain", "rain"]], [["rain", "again"]])
    >>> words.hits(words.R), words.lengths
    (array([[1., 1.]]), array([2.]))
    """

    def __init__(self, grams: Numbered, n: int) -> None:
        """`grams` are those of n sentences and of the references after them."""
        counts = grams.counts()
        R = counts[n:].toarray()
        self.lengths, self.size = R.sum(axis=1), np.asarray(counts[:n].sum(axis=1))
        shared = R.sum(axis=0) > 0.0
        self.R, self.C = R[:, shared], counts[:n][:, np.flatnonzero(shared)].tocsr()
        self.row = np.repeat(np.arange(n), np.diff(self.C.indptr))

    @classmethod
    def of(cls, sentences: Sequence[Tokens], references: Sequence[Tokens]) -> tuple[Overlap, Overlap]:
        """In words and in pairs."""
        numbered, _ = Numbered.of([*sentences, *references])
        return cls(numbered, len(sentences)), cls(numbered.pairs(), len(sentences))

    def have(self, Y: Sequence[int]) -> FloatArray:
        """How often a set of sentences has each gram."""
        return np.asarray(self.C[list(Y)].sum(axis=0), np.float64)

    def hits(self, remaining: FloatArray) -> FloatArray:
        """How many grams of each sentence match what is left of each reference: (references, sentences)."""
        hits = [
            np.bincount(self.row, np.minimum(self.C.data, row[self.C.indices]), self.size.size) for row in remaining
        ]
        return np.array(hits, np.float64).reshape(len(remaining), self.size.size)


def pairs_oracle(
    sentences: Sequence[Tokens], references: Sequence[Tokens], cost: FloatArray, budget: float
) -> IntArray:
    """Add the sentence that raises the extract's own ROUGE-1 F plus ROUGE-2 F most, while one does and fits.

    F is that of all references together (ROUGE's average): with H the clipped matches summed over references,
    F = 2 H / (sum of reference lengths + number of references x extract length).

    Examples
    --------
    >>> texts = [["c", "b", "a", "d"], ["a", "b", "c"], ["d", "x"]]
    >>> pairs_oracle(texts, [["a", "b", "c", "d"]], np.ones(3), budget=1)
    array([1])
    """
    parts = Overlap.of(sentences, references)

    def score(Y: list[int]) -> FloatArray:
        score_now, score_with = 0.0, np.zeros(cost.size)
        for part in parts:
            counts, length, n, total = part.have(Y), part.size[Y].sum(), len(part.R), part.lengths.sum()
            matched = np.minimum(counts, part.R).sum()  # min(have + C, R) = min(have, R) + min(C, R - min(have, R))
            hits = matched + part.hits(np.maximum(part.R - counts, 0.0)).sum(axis=0)
            score_with += 2 * hits / np.maximum(total + n * (length + part.size), 1.0)
            score_now += 2 * matched / max(total + n * length, 1.0)
        return np.where(score_with > score_now + 1e-12, score_with, -np.inf)

    return fill(cost, budget, score)


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
    shared, _ = Overlap.of(sentences, references)
    unshared = shared.lengths - shared.R.sum(axis=1)  # the number of words that no sentence has

    def score(Y: list[int]) -> FloatArray:
        remaining = np.maximum(shared.R - shared.have(Y), 0.0)
        hits, lengths = shared.hits(remaining), (remaining.sum(axis=1) + unshared)[:, None] + shared.size
        F = np.divide(2 * hits, lengths, out=np.zeros_like(hits), where=lengths > 0).mean(axis=0)
        return np.where(F > 0.0, F, -np.inf)

    return fill(cost, budget, score)


def fill(cost: FloatArray, budget: float, score: Callable[[list[int]], FloatArray]) -> IntArray:
    """Add the item that scores highest beside those chosen, of those that still fit, until none is above -inf.

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
        free[best] = False
        budget -= cost[best]
    return np.sort(np.array(chosen, np.int64))


ORACLE: dict[str, Callable[[Sequence[Tokens], Sequence[Tokens], FloatArray, float], IntArray]] = {
    "pairs": pairs_oracle,
    "paper": paper_oracle,
}


def training_targets(split: SplitCluster, settings: SummarizerSettings) -> list[IntArray]:
    """The extracts that a cluster is an example of (section 7.1).

    The consensus decoder, which averages over sets, learns from one for each reference. The others look for the one
    best set, and learn from one for all references together, as in the paper.
    """
    together: list[Sequence[str]] = [split.cluster.references]
    if settings.decoder == "consensus":
        together = [[reference] for reference in split.cluster.references if reference.strip()]
    return extracts(split, settings, together)


def extracts(split: SplitCluster, settings: SummarizerSettings, groups: Sequence[Sequence[str]]) -> list[IntArray]:
    """For each group of references the sentences that come nearest to them together, within the budget."""
    budget, unit, language = settings.budget, settings.unit, split.cluster.read_as(settings.language)
    # only the first of sentences with the same words may be in: a set with two of them has probability 0
    distinct, cost = [*split.considered(range(len(split))).values()], np.full(len(split), np.inf)
    cost[distinct] = split.costs(unit)[distinct]
    sentences, oracle = [match_words(text, language) for text in split.texts], ORACLE[settings.oracle]
    targets = [[match_words(cut(text, budget, unit), language) for text in references] for references in groups]
    return [oracle(sentences, references, cost, limit(budget, unit)) for references in targets]
