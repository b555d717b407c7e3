"""How often sentences have the words, and the pairs of words, of reference texts: sparse counts, numbered once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray
from dpplearn.summarize.model.numbered import Numbered

Tokens: TypeAlias = Sequence[str]
WORDS, PAIRS = 1, 2


class Shared(NamedTuple):
    """What references and sentences have in common: entry e says that sentence row[e] has gram[e] times[e] times.

    R has how often each reference has each of these grams; `lengths` and `size` count all grams of a reference and of a
    sentence.
    """

    row: IntArray
    gram: IntArray
    times: FloatArray
    R: FloatArray
    lengths: FloatArray
    size: FloatArray

    def have(self, Y: Sequence[int]) -> FloatArray:
        """How often a set of sentences has each gram."""
        chosen = np.zeros(self.size.size, np.bool_)
        chosen[list(Y)] = True
        inside = chosen[self.row]
        return np.bincount(self.gram[inside], self.times[inside], self.R.shape[1]).astype(np.float64)

    def hits(self, left: FloatArray) -> FloatArray:
        """Of each sentence how many grams match what is left of each reference: (references, sentences)."""
        found = [np.bincount(self.row, np.minimum(self.times, one[self.gram]), self.size.size) for one in left]
        return np.array(found, np.float64).reshape(len(left), self.size.size)


class Grams(NamedTuple):
    """The grams of sentences by their keys, ascending; entries and sizes as in `Shared`."""

    keys: IntArray
    row: IntArray
    gram: IntArray
    times: FloatArray
    size: FloatArray

    @classmethod
    def of(cls, keys: IntArray, text: IntArray, n: int) -> Grams:
        """From the key of each gram and the sentence that has it."""
        known, gram = np.unique(keys, return_inverse=True)
        entries, times = np.unique(text * known.size + gram, return_counts=True)
        row, gram = np.divmod(entries, max(known.size, 1))
        return cls(known, row, gram, times.astype(np.float64), np.bincount(text, minlength=n).astype(np.float64))

    def shared(self, references: Sequence[IntArray]) -> Shared:
        """With references, of which a key below 0 is one that no sentence has."""
        size = self.keys.size
        R = np.zeros((len(references), size))
        for one, keys in zip(R, references, strict=True):
            place = np.searchsorted(self.keys, keys)
            place = place[np.take(self.keys, place, mode="clip") == keys] if size else place[:0]
            one += np.bincount(place, minlength=size)
        wanted = R.sum(axis=0) > 0.0
        entries, number = wanted[self.gram], np.cumsum(wanted) - 1
        lengths = np.array([keys.size for keys in references], np.float64)
        row, gram, times = self.row[entries], number[self.gram[entries]], self.times[entries]
        return Shared(row, gram, times, R[:, wanted], lengths, self.size)


@dataclass(frozen=True, eq=False)
class Texts:
    """Sentences with their words as numbers, ready to be compared with one reference after the other.

    Examples
    --------
    >>> shared = Texts.of([["rain", "fell"], ["rain", "rain"]]).shared([["rain", "again"]], WORDS)
    >>> shared.hits(shared.R), shared.lengths
    (array([[1., 1.]]), array([2.]))
    """

    said: Numbered
    columns: dict[str, int]

    @classmethod
    def of(cls, sentences: Texts | Sequence[Tokens]) -> Texts:
        """Of words; what is numbered already stays."""
        return sentences if isinstance(sentences, Texts) else cls(*Numbered.of(sentences))

    def shared(self, references: Sequence[Tokens], kind: int) -> Shared:
        """What references and sentences share of words or pairs."""
        numbers = [np.array([self.columns.get(word, -1) for word in one], np.int64) for one in references]
        if kind == WORDS:
            return self._words.shared(numbers)
        return self._pairs.shared([self._coded(one[:-1], one[1:]) for one in numbers])

    @cached_property
    def _words(self) -> Grams:
        return Grams.of(self.said.numbers, self.said.text, self.said.ends.size - 1)

    @cached_property
    def _pairs(self) -> Grams:
        text, numbers = self.said.text, self.said.numbers
        inside: npt.NDArray[np.bool_] = text[:-1] == text[1:]
        return Grams.of(self._coded(numbers[:-1], numbers[1:])[inside], text[:-1][inside], self.said.ends.size - 1)

    def _coded(self, first: IntArray, second: IntArray) -> IntArray:
        """Two numbers as one, -1 where one of them is."""
        return np.where((first < 0) | (second < 0), -1, first * self.said.size + second)


def in_pairs(tokens: Tokens) -> Tokens:
    """The words of a text, two by two in a row.

    Examples
    --------
    >>> in_pairs(["rain", "fell", "again"])
    ['rain fell', 'fell again']
    """
    return [f"{a} {b}" for a, b in pairwise(tokens)]
