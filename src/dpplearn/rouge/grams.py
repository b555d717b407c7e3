"""Counting n-grams and skip-bigrams of many texts at once, as integers in arrays.

A gram becomes one integer key. The prepared texts are stored as a table: the distinct keys in order and how
often each text has each of them. Another text's grams are looked up in it, and what is absent cannot be a hit.

The tokens of several texts lie in one array, each text followed by END marks, so that no gram with both
ends among the tokens crosses from one text to the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpplearn.rouge.metrics import NGrams, SkipBigrams

IntArray = NDArray[np.int64]
CELLS = 1 << 21  # of the arrays made at once when many candidates are scored together


@dataclass(frozen=True)
class Tokens:
    """Texts as numbers: 0 ... V-1 for the V tokens of the vocabulary, V for others, V + 1 for END."""

    ids: IntArray
    lengths: IntArray  # tokens in each text
    owner: IntArray  # the text that each position belongs to
    size: int  # V

    @classmethod
    def number(cls, texts: Sequence[list[str]], vocabulary: dict[str, int], pad: int) -> "Tokens":
        """Number the tokens of the texts, with `pad` END marks after each text."""
        V = len(vocabulary)
        get, end = vocabulary.get, [V + 1] * pad
        ids: list[int] = []
        for tokens in texts:
            ids += [get(token, V) for token in tokens]
            ids += end
        lengths = np.array([len(tokens) for tokens in texts], np.int64)
        return cls(np.array(ids, np.int64), lengths, np.arange(len(texts)).repeat(lengths + pad), V)


@dataclass(frozen=True)
class Table:
    """Distinct keys in ascending order, and counts[text, key]."""

    keys: IntArray
    counts: IntArray

    @classmethod
    def count(cls, keys: IntArray, owner: IntArray, n_texts: int) -> "Table":
        distinct, place = np.unique(keys, return_inverse=True)
        size = distinct.size
        counts = np.bincount(owner * size + place, minlength=n_texts * size)
        return cls(np.append(distinct, -1), counts.reshape(n_texts, size))

    def find(self, keys: IntArray) -> IntArray:
        """Return the place of each key, or the number of keys for one that is absent."""
        size = self.keys.size - 1
        place = self.keys[:size].searchsorted(keys)
        place[self.keys[place] != keys] = size
        return place

    def hits(self, place: IntArray, owner: IntArray, n_texts: int) -> IntArray:
        """Return the sum over keys of min(count in text q, count in prepared text p), for each q and p."""
        size = self.keys.size
        counts = np.bincount(owner * size + place, minlength=n_texts * size).reshape(n_texts, 1, size)
        return np.minimum(counts[:, :, :-1], self.counts).sum(axis=2)


class NGramCounter:
    """The n-grams of the prepared texts, as keys (place of the first n - 1 tokens, last token)."""

    def __init__(self, metric: NGrams, texts: Tokens) -> None:
        self.n = metric.n
        self.base = texts.size + 2
        self.totals = self.totals_of(texts)
        self.width = texts.ids.size
        self.tables: list[Table] = []
        n_texts, place = texts.lengths.size, texts.ids
        for level in range(self.n):
            keys, owner = self.keys(place, texts, level)
            inside = texts.ids[level:] < texts.size  # the END marks between make the first tokens END too
            inside &= place[: keys.size] < (self.tables[-1].keys.size - 1 if level else texts.size)
            self.tables.append(Table.count(keys[inside], owner[inside], n_texts))
            place = self.tables[-1].find(keys)

    def keys(self, place: IntArray, texts: Tokens, level: int) -> tuple[IntArray, IntArray]:
        """Return the keys of (level + 1)-grams from the places of the level-grams, and their owners."""
        if level == 0:
            return texts.ids, texts.owner
        last = texts.ids[level:]
        return place[: last.size] * self.base + last, texts.owner[: last.size]

    def totals_of(self, texts: Tokens) -> IntArray:
        return np.maximum(texts.lengths - self.n + 1, 0)

    def hits(self, texts: Tokens) -> IntArray:
        place = texts.ids
        for level, table in enumerate(self.tables):
            keys, owner = self.keys(place, texts, level)
            place = table.find(keys)
        return self.tables[-1].hits(place, owner, texts.lengths.size)


class SkipBigramCounter:
    """The skip-bigrams of the prepared texts, as keys (first token, second token); (base, token) for one token."""

    def __init__(self, metric: SkipBigrams, texts: Tokens) -> None:
        self.reach = metric.skip + 1
        self.unigrams = metric.unigrams
        self.base = texts.size + 2
        self.totals = self.totals_of(texts)
        self.width = texts.ids.size * (self.reach + 1)
        keys, owner = self.keys(texts)
        # A key of the prepared texts counts if no END is in it. Of a text's tokens the last is not counted alone.
        V = texts.size
        inside = np.where(keys >= 0, (keys // self.base % (V + 2) < V) | (keys >= self.base**2), False)
        inside &= keys % self.base < V
        self.table = Table.count(keys[inside], owner[inside], texts.lengths.size)

    def keys(self, texts: Tokens) -> tuple[IntArray, IntArray]:
        """Return the keys of every pair of positions within reach, and of every position with a successor."""
        base, END = self.base, texts.size + 1
        size = max(texts.ids.size - self.reach, 0)  # the rest is END marks
        first = texts.ids[:size]
        keys = np.empty((self.reach + self.unigrams, size), np.int64)
        for gap in range(1, self.reach + 1):
            np.add(first * base, texts.ids[gap : gap + size], out=keys[gap - 1])
        if self.unigrams:
            keys[-1] = np.where(texts.ids[1 : size + 1] == END, -1, base * base + first)
        return keys.ravel(), np.tile(texts.owner[:size], len(keys))

    def totals_of(self, texts: Tokens) -> IntArray:
        before = np.maximum(texts.lengths - 1, 0)  # tokens with a successor; the r-th from the end has r of them
        full = np.maximum(before - self.reach, 0)
        part = before - full
        pairs: IntArray = full * self.reach + part * (part + 1) // 2
        return pairs + before if self.unigrams else pairs

    def hits(self, texts: Tokens) -> IntArray:
        keys, owner = self.keys(texts)
        return self.table.hits(self.table.find(keys), owner, texts.lengths.size)
