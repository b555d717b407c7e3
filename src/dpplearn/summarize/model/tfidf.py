"""Words of texts as numbers, so that counting them is arithmetic on arrays; and how much each word weighs.

Term frequency times inverse document frequency gives the similarity features of section 7.2.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray

LEAST_WEIGHT = 1e-3  # a word in every document still has a direction, so that no sentence is the zero vector
MORE_SENTENCES = 10  # sentences added to those of a text, so that words which two of three share still weigh something


class Numbered(NamedTuple):
    """The words of some texts, one after the other: text i has numbers[ends[i]:ends[i + 1]], of `size` different ones.

    Numbers are in the order in which the words occur first.

    Examples
    --------
    >>> numbered, columns = Numbered.of([["rain", "fell"], ["rain", "rain"]])
    >>> numbered.numbers, list(columns)
    (array([0, 1, 0, 0]), ['rain', 'fell'])
    >>> numbered.counts().toarray(), numbered.pairs().counts().toarray()
    (array([[1., 1.],
           [2., 0.]]), array([[1., 0.],
           [0., 1.]]))
    """

    numbers: IntArray
    ends: IntArray
    size: int

    @classmethod
    def of(cls, texts: Iterable[Sequence[str]]) -> tuple[Numbered, dict[str, int]]:
        """Number the words of texts; also returns the number of each word."""
        texts, columns = [*texts], defaultdict[str, int](count().__next__)  # a word looked up first gets the next one
        numbers = np.fromiter(map(columns.__getitem__, chain.from_iterable(texts)), np.int64)
        return cls(numbers, np.append(0, np.cumsum([*map(len, texts)], dtype=np.int64)), len(columns)), dict(columns)

    @property
    def text(self) -> IntArray:
        """The number of the text that each word is in."""
        return np.repeat(np.arange(self.ends.size - 1), np.diff(self.ends))

    def counts(self) -> sparse.csr_array:
        """How often each text has each word, a row for a text."""
        kind = np.int32 if self.ends[-1] < 2**31 else np.int64
        places = np.ones(self.numbers.size), self.numbers.astype(kind), self.ends.astype(kind)
        counted = sparse.csr_array(places, shape=(self.ends.size - 1, max(self.size, 1)))
        counted.sum_duplicates()
        return counted

    def pairs(self) -> Numbered:
        """Every two words in a row of a text, numbered as one."""
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
    """In how many of some documents each word is.

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
        """Count the documents that have each word."""
        distinct = [{*words} for words in documents]
        return cls(len(distinct), dict(sorted(Counter(chain.from_iterable(distinct)).items())))

    def weights(self, words: Iterable[str]) -> FloatArray:
        """Inverse document frequency of each word."""
        counts = np.fromiter(map(self.counts.get, words, repeat(0)), np.int64)
        return np.asarray(np.maximum(np.log((1 + self.documents) / (1 + counts)), LEAST_WEIGHT))


def unit_rows(counts: sparse.csr_array, weights: FloatArray) -> sparse.csr_array:
    """The rows of counts, each word times its weight, in the same place and scaled to length 1; no row may be empty."""
    counts.data *= weights[counts.indices]
    length = np.sqrt(np.add.reduceat(counts.data**2, counts.indptr[:-1]))
    counts.data /= np.repeat(length, np.diff(counts.indptr))
    return counts
