"""Term frequency times inverse document frequency: the similarity features of section 7.2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

FLOOR = 1e-3  # a word in every document still has a direction, so that no sentence is the zero vector


@dataclass(frozen=True)
class Idf:
    """How many of the training documents each word is in.

    The weight of a word in d of N documents is log((1 + N) / (1 + d)), at least 0.001. A word never seen
    has d = 0: it weighs a little more than one seen once.

    Examples
    --------
    >>> idf = Idf.fit([["the", "storm"], ["the", "sea"], ["the"]])
    >>> [round(idf.weight(word), 3) for word in ("the", "storm", "unseen")]
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

    def weight(self, word: str) -> float:
        """Inverse document frequency of one word."""
        return max(float(np.log((1 + self.documents) / (1 + self.counts.get(word, 0)))), FLOOR)

    def vectors(self, sentences: Sequence[Sequence[str]]) -> sparse.csr_array:
        """One unit row per sentence, one column per word that occurs; a sentence without words is an error."""
        columns: dict[str, int] = {}
        indptr: list[int] = [0]
        indices: list[int] = []
        for words in sentences:
            if not words:
                raise ValueError(f"Sentence {len(indptr) - 1} has no words; leave it out.")
            indices.extend(columns.setdefault(word, len(columns)) for word in words)
            indptr.append(len(indices))
        counts = sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(sentences), len(columns)))
        counts.sum_duplicates()
        counts.data *= np.array([self.weight(word) for word in columns])[counts.indices]
        length = np.sqrt(np.add.reduceat(counts.data**2, counts.indptr[:-1]))
        counts.data /= np.repeat(length, np.diff(counts.indptr))
        return counts
