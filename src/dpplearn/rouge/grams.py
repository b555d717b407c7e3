"""Counting n-grams and skip-bigrams of many texts at once, as integers in arrays.

A gram becomes one integer key. The prepared texts are stored as a table: the distinct keys in order and how
often each text has each of them. Another text's grams are looked up in it; one that is absent is no hit.

The tokens of several texts lie in one array, each text followed by END marks, so that no gram with both
ends among the tokens crosses from one text to the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from dpplearn.rouge.metrics import NGrams, SkipBigrams

IntArray = NDArray[np.int64]
DIRECT = 1 << 17  # possible keys up to which a table has a cell for each, 1 MB in all


@dataclass(frozen=True)
class Tokens:
    """Texts as numbers: 0 ... V-1 for the V tokens of the vocabulary, V for others, V + 1 for END."""

    ids: IntArray
    lengths: list[int]  # tokens in each text
    owner: IntArray  # the text that each position belongs to
    size: int  # V

    @classmethod
    def number(cls, texts: Sequence[list[str]], vocabulary: dict[str, int], pad: int) -> "Tokens":
        """Number the tokens of the texts, with `pad` END marks after each text."""
        V = len(vocabulary)
        get, end = vocabulary.get, [V + 1] * pad
        ids: list[int] = []
        for tokens in texts:
            ids += map(get, tokens, repeat(V))
            ids += end
        lengths = [len(tokens) for tokens in texts]
        owner = np.arange(len(texts)).repeat([length + pad for length in lengths])
        return cls(np.array(ids, np.int64), lengths, owner, V)

    def owner_of(self, grams: IntArray) -> IntArray:
        """Return the text of each gram by the position of its first token, the last axis of the array."""
        return self.owner[: grams.shape[-1]]


@dataclass(frozen=True)
class Table:
    """Distinct keys in ascending order, and counts[text, key].

    Where there are few possible keys, places[key] is the place of each, and no key need be sorted or searched.
    """

    keys: IntArray
    counts: IntArray
    places: IntArray | None

    @classmethod
    def count(cls, keys: IntArray, owner: IntArray, n_texts: int, span: int) -> "Table":
        """Count the keys, which are less than span, of each text."""
        if span > DIRECT:
            distinct, place = np.unique(keys, return_inverse=True)
            return cls(distinct, count_places(place, owner, n_texts, distinct.size), None)
        seen = np.zeros(span, np.bool_)
        seen[keys] = True
        distinct = seen.nonzero()[0]
        places = np.full(span, distinct.size)
        places[distinct] = np.arange(distinct.size)
        return cls(distinct, count_places(places[keys], owner, n_texts, distinct.size), places)

    def find(self, keys: IntArray) -> IntArray:
        """Return the place of each key, or the number of keys for one that is absent."""
        if self.places is not None:
            return self.places[keys]
        size = self.keys.size
        if not size:
            return np.zeros_like(keys)
        place = self.keys.searchsorted(keys)
        place[self.keys.take(place, mode="clip") != keys] = size
        return place


def count_places(place: IntArray, owner: IntArray, n_texts: int, size: int) -> IntArray:
    """Return how often each text has each place, as an array of shape (n_texts, size)."""
    flat = (owner * size + place).ravel()
    return np.bincount(flat, minlength=n_texts * size).reshape(n_texts, size)


def common(counts: IntArray, place: IntArray, texts: Tokens) -> IntArray:
    """Return the sum over places of min(count in text q, count in prepared text p), for each q and p."""
    n_texts, size = len(texts.lengths), counts.shape[1]
    found = count_places(place, texts.owner_of(place), n_texts, size + 1)[:, None, :size]  # less the absent
    hits: IntArray = np.minimum(found, counts).sum(axis=2)
    return hits


class NGramCounter:
    """The n-grams of the prepared texts, as keys (place of the first n - 1 tokens, last token)."""

    def __init__(self, metric: NGrams, texts: Tokens) -> None:
        self.n = metric.n
        self.base = texts.size + 2
        self.totals = [self.total(length) for length in texts.lengths]
        self.tables: list[Table] = []  # of the bigrams, the trigrams ... up to n
        n_texts = len(texts.lengths)
        place, absent = np.minimum(texts.ids, texts.size), texts.size  # a single token's place is its number
        if self.n == 1:
            self.counts = count_places(place, texts.owner, n_texts, absent + 1)[:, :absent]
        for _ in range(self.n - 1):
            keys = self.longer(place, texts)
            inside = ((place[:-1] < absent) & (texts.ids[texts.ids.size - keys.size :] < texts.size)).nonzero()[0]
            table = Table.count(keys[inside], texts.owner[inside], n_texts, span=(absent + 1) * self.base)
            self.tables.append(table)
            place, absent, self.counts = table.find(keys), table.keys.size, table.counts

    @property
    def width(self) -> int:
        """The number of array cells that a text takes up in `hits`."""
        return self.counts.size

    def longer(self, place: IntArray, texts: Tokens) -> IntArray:
        """Return the keys of the grams that are one token longer than those at these places."""
        last = texts.ids[texts.ids.size - place.size + 1 :]
        return place[:-1] * self.base + last

    def total(self, length: int) -> int:
        """Return the number of n-grams in a text of so many tokens."""
        return max(length - self.n + 1, 0)

    def hits(self, texts: Tokens) -> IntArray:
        place = np.minimum(texts.ids, texts.size)
        for table in self.tables:
            place = table.find(self.longer(place, texts))
        return common(self.counts, place, texts)


class SkipBigramCounter:
    """The skip-bigrams of the prepared texts, as keys (first token, second token); alone, (base, token)."""

    def __init__(self, metric: SkipBigrams, texts: Tokens) -> None:
        self.gaps = range(1, metric.skip + 2)
        self.unigrams = metric.unigrams
        self.base = texts.size + 2
        self.no_gram = self.base**2 + self.base - 1  # (base, END), the last key there is
        self.totals = [self.total(length) for length in texts.lengths]
        keys = self.keys(texts)
        known, size = texts.ids < texts.size, keys.shape[1]
        inside = keys != self.no_gram
        for gap in self.gaps:
            inside[gap - 1] = known[gap : gap + size]
        inside &= known[:size]
        row, position = inside.nonzero()
        found, owner = keys[row, position], texts.owner[position]
        self.table = Table.count(found, owner, len(texts.lengths), span=self.no_gram + 1)

    @property
    def width(self) -> int:
        """The number of array cells that a text takes up in `hits`."""
        return self.table.counts.size

    def keys(self, texts: Tokens) -> IntArray:
        """Return a key for every position (columns) at each gap to a second one, and for it alone (rows)."""
        size = texts.ids.size - len(self.gaps)  # the rest is END marks
        first, END = texts.ids[:size], texts.size + 1
        above = first * self.base
        keys = np.empty((len(self.gaps) + self.unigrams, size), np.int64)
        for gap in self.gaps:
            np.add(above, texts.ids[gap : gap + size], out=keys[gap - 1])
        if self.unigrams:
            keys[-1] = first + self.base**2
            keys[-1, texts.ids[1 : size + 1] == END] = self.no_gram  # a text's last token does not count alone
        return keys

    def total(self, length: int) -> int:
        """Return the number of pairs, and of single tokens, in a text of so many tokens."""
        before = max(length - 1, 0)  # tokens with a next one: 1 for the last of them, then 2 ...
        full = max(before - len(self.gaps), 0)
        part = before - full
        pairs = full * len(self.gaps) + part * (part + 1) // 2
        return pairs + before if self.unigrams else pairs

    def hits(self, texts: Tokens) -> IntArray:
        return common(self.table.counts, self.table.find(self.keys(texts)), texts)
