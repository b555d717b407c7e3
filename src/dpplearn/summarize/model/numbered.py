"""The words of texts as numbers, so that counting them, and pairs of them, is arithmetic on arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray


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
