"""Words of texts as numbers, so that counting is arithmetic on arrays; and what each weighs.

Term frequency times inverse document frequency makes the similarity features of section 7.2.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray

LEAST_WEIGHT = 1e-3  # a word in every document still has a direction, so that no sentence is the zero vector
MORE_SENTENCES = 10  # that a text is thought to have beside its own, so that those of a short one can be alike


class Numbered(NamedTuple):
    """Words of texts, one after the other: text i has numbers[ends[i]:ends[i + 1]], of `size` different ones.

    Numbers are in the order in which words occur first.

    Examples
    --------
    >>> found, columns = Numbered.of([["rain", "fell"], ["rain", "rain"]])
    >>> found.numbers, list(columns)
    (array([0, 1, 0, 0]), ['rain', 'fell'])
    >>> found.counts().toarray(), found.pairs().counts().toarray()
    (array([[1., 1.],
           [2., 0.]]), array([[1., 0.],
           [0., 1.]]))
    """

    numbers: IntArray
    ends: IntArray
    size: int

    @classmethod
    def of(cls, texts: Iterable[Sequence[str]]) -> tuple[Numbered, dict[str, int]]:
        """With the number of each word."""
        texts, columns = [*texts], defaultdict[str, int](count().__next__)  # a word looked up first gets the next one
        numbers = np.fromiter(map(columns.__getitem__, chain.from_iterable(texts)), np.int64)
        return cls(numbers, np.append(0, np.cumsum([*map(len, texts)], dtype=np.int64)), len(columns)), dict(columns)

    @property
    def text(self) -> IntArray:
        """The text of each word."""
        return np.repeat(np.arange(self.ends.size - 1), np.diff(self.ends))

    def counts(self) -> sparse.csr_array:
        """How often each text has each word, a row for a text."""
        shape, (indices, ends) = (self.ends.size - 1, max(self.size, 1)), (self.numbers, self.ends)
        narrow = (indices.astype(np.int32), ends.astype(np.int32)) if ends[-1] < 2**31 else (indices, ends)
        found = sparse.csr_array((np.ones(indices.size), *narrow), shape=shape)
        found.sum_duplicates()
        return found

    def pairs(self) -> Numbered:
        """Two words in a row of a text as one."""
        text = self.text
        both = (self.numbers[:-1] * self.size + self.numbers[1:])[text[:-1] == text[1:]]
        _, first, which = np.unique(both, return_index=True, return_inverse=True)
        number = np.empty_like(first)
        number[np.argsort(first)] = np.arange(first.size)  # in the order in which they occur first
        return Numbered(number[which], np.append(0, np.cumsum(np.maximum(np.diff(self.ends) - 1, 0))), first.size)

    def in_several(self) -> npt.NDArray[np.bool_]:
        """Whether more than one text has each word."""
        text, first, last = self.text, np.empty(self.size, np.int64), np.empty(self.size, np.int64)
        last[self.numbers] = text  # of a word that occurs again, what is set last stays
        first[self.numbers[::-1]] = text[::-1]
        return first != last

    def sums(self, values: FloatArray) -> FloatArray:
        """For each text the sum of a value over its words."""
        return np.asarray(np.bincount(self.text, values[self.numbers], self.ends.size - 1), np.float64)


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
    def of_sentences(cls, said: Numbered, columns: Collection[str]) -> Idf:
        """How many of a text's own sentences have each word, and `MORE_SENTENCES` more that have none of them.

        With these, what two sentences of three have in common still weighs something.
        """
        having = np.bincount(said.counts().indices, minlength=len(columns))
        return cls(said.ends.size - 1 + MORE_SENTENCES, dict(zip(columns, having.tolist(), strict=True)))

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
