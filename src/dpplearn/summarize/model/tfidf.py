"""Term frequency times inverse document frequency: the similarity features of section 7.2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
from scipy import sparse

from dpplearn._checks import FloatArray

LEAST_WEIGHT = 1e-3  # a word in every document still has a direction, so that no sentence is the zero vector
MORE_SENTENCES = 10  # that a text is thought to have beside its own, so that those of a short one can be alike


@dataclass(frozen=True)
class Idf:
    """How many of the training documents each word is in.

    The weight of a word in d of N documents is log((1 + N) / (1 + d)), at least 0.001. A word never seen
    has d = 0: it weighs a little more than one seen once.

    Examples
    --------
    >>> idf = Idf.fit([["the", "storm"], ["the", "sea"], ["the"]])
    >>> idf.weights(["the", "storm", "unseen"]).round(3).tolist()
    [0.001, 0.693, 1.386]
    """

    documents: int
    counts: Mapping[str, int] = field(repr=False)

    @classmethod
    def fit(cls, documents: Iterable[Iterable[str]]) -> Idf:
        """Count from the words of each document."""
        counts: Counter[str] = Counter()
        n = 0
        for words in documents:
            counts.update(set(words))
            n += 1
        return cls(n, dict(sorted(counts.items())))

    @classmethod
    def of_sentences(cls, counts: sparse.csr_array, columns: Collection[str]) -> Idf:
        """How many of a text's own sentences have each word, and `MORE_SENTENCES` more that have none of them.

        With these, what two sentences of three have in common still weighs something.
        """
        having = np.bincount(counts.indices, minlength=len(columns))
        return cls(counts.shape[0] + MORE_SENTENCES, dict(zip(columns, having.tolist(), strict=True)))

    def weights(self, words: Iterable[str]) -> FloatArray:
        """Inverse document frequency of each word."""
        counts = np.fromiter(map(self.counts.get, words, repeat(0)), np.int64)
        return np.asarray(np.maximum(np.log((1 + self.documents) / (1 + counts)), LEAST_WEIGHT))


def tfidf_rows(counts: sparse.csr_array, weights: FloatArray) -> sparse.csr_array:
    """A unit row per sentence, of words with these weights, in the place of how often each has them."""
    empty = np.flatnonzero(np.diff(counts.indptr) == 0)
    if empty.size:
        raise ValueError(f"Sentence {empty[0]} has no words; leave it out.")
    counts.data *= weights[counts.indices]
    length = np.sqrt(np.add.reduceat(counts.data**2, counts.indptr[:-1]))
    counts.data /= np.repeat(length, np.diff(counts.indptr))
    return counts
