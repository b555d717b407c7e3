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
    def of(cls, texts: Sequence[Sequence[str]]) -> tuple[Numbered, dict[str, int]]:
        """With the number of each word."""
        columns: dict[str, int] = defaultdict(count().__next__)  # a word looked up for the first time gets the next one
        ends = ends_of(map(len, texts))
        numbers = np.fromiter(map(columns.__getitem__, chain.from_iterable(texts)), np.int64, int(ends[-1]))
        return cls(numbers, ends, len(columns)), dict(columns)

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
        inside = np.ones(max(self.numbers.size - 1, 0), np.bool_)
        borders = self.ends[1:-1] - 1
        inside[borders[(borders >= 0) & (borders < inside.size)]] = False
        both = (self.numbers[:-1] * self.size + self.numbers[1:])[inside]
        first, which = firsts(both)
        new = np.zeros(both.size, np.int64)
        new[first] = 1
        number = np.cumsum(new)[first] - 1
        return Numbered(number[which], ends_of(np.maximum(np.diff(self.ends) - 1, 0)), first.size)

    def in_several(self) -> npt.NDArray[np.bool_]:
        """Whether more than one text has each word."""
        text, first, last = self.text, np.empty(self.size, np.int64), np.empty(self.size, np.int64)
        last[self.numbers] = text  # of a word that occurs again, what is set last stays
        first[self.numbers[::-1]] = text[::-1]
        return first != last

    def groups_with(self, group: IntArray) -> IntArray:
        """How many groups of texts have each word; `group` is that of each text."""
        held = np.sort(group[self.text] * self.size + self.numbers)  # np.unique takes four times as long
        return np.bincount(held[np.diff(held, prepend=-1) > 0] % max(self.size, 1), minlength=self.size)

    def sums(self, values: FloatArray) -> FloatArray:
        """For each text the sum of a value over its words."""
        return np.asarray(np.bincount(self.text, values[self.numbers], self.ends.size - 1), np.float64)


def firsts(keys: IntArray) -> tuple[IntArray, IntArray]:
    """As np.unique: where each key occurs first, by key, and the number of each one's; in two thirds of the time."""
    bits = keys.size.bit_length()
    if keys.size == 0 or int(keys.max()) >> (62 - bits):
        return np.unique(keys, return_index=True, return_inverse=True)[1:]
    both = np.sort(keys << bits | np.arange(keys.size))  # with its place, so that a sort of numbers says both
    place = both & ((1 << bits) - 1)
    new = np.diff(both >> bits, prepend=-1) > 0
    which = np.empty_like(keys)
    which[place] = np.cumsum(new) - 1
    return place[new], which


def ends_of(lengths: Iterable[int]) -> IntArray:
    """Where each text ends, after a 0."""
    sizes = lengths if isinstance(lengths, np.ndarray) else np.fromiter(lengths, np.int64)
    return np.append(0, np.cumsum(sizes))
