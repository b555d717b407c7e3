"""Extracts to learn from (section 7.1): sentences chosen with the reference summaries in hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.limits import fits
from dpplearn.summarize.model.grams import PAIRS, WORDS, Texts, Tokens


def pairs_oracle(
    sentences: Texts | Sequence[Tokens],
    references: Sequence[Tokens],
    cost: FloatArray,
    budget: float,
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
    texts = Texts.of(sentences)
    parts = [texts.shared(references, kind) for kind in (WORDS, PAIRS)]

    def score(Y: list[int]) -> FloatArray:
        now, then = 0.0, np.zeros(cost.size)
        for part in parts:
            have, length, n, total = part.have(Y), part.size[Y].sum(), len(part.R), part.lengths.sum()
            kept = np.minimum(have, part.R).sum()  # min(have + C, R) = min(have, R) + min(C, what have leaves of R)
            hits = kept + part.hits(np.maximum(part.R - have, 0.0)).sum(axis=0)
            then += 2 * hits / np.maximum(total + n * (length + part.size), 1.0)
            now += 2 * kept / max(total + n * length, 1.0)
        return np.where(then > now + 1e-12, then, -np.inf)

    return fill(cost, budget, score)


def paper_oracle(
    sentences: Texts | Sequence[Tokens],
    references: Sequence[Tokens],
    cost: FloatArray,
    budget: float,
) -> IntArray:
    """Add the sentence with the best mean unigram F to the references, then remove the words it covers from them.

    Examples
    --------
    >>> texts = [["a", "b"], ["a", "b", "c"], ["d"], ["x"]]
    >>> paper_oracle(texts, [["a", "b", "c", "d"]], np.ones(4), budget=3)
    array([1, 2])
    """
    shared = Texts.of(sentences).shared(references, WORDS)
    others = shared.lengths - shared.R.sum(axis=1)  # words that no sentence has

    def score(Y: list[int]) -> FloatArray:
        left = np.maximum(shared.R - shared.have(Y), 0.0)
        hits, lengths = shared.hits(left), (left.sum(axis=1) + others)[:, None] + shared.size
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


ORACLES: dict[str, Callable[[Texts | Sequence[Tokens], Sequence[Tokens], FloatArray, float], IntArray]] = {
    "pairs": pairs_oracle,
    "paper": paper_oracle,
}
