"""Hits of many texts at once: n-grams, skip-bigrams and common subsequences, as integers in arrays.

A gram becomes one integer key. The prepared texts are stored as a table: the distinct keys in order and how
often each text has each of them. Another text's grams are looked up in it; one that is absent is no hit.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np

from dpplearn._checks import IntArray
from dpplearn.rouge.metrics import NGrams, Sizes, SkipBigrams, Subsequence, plain_sum
from dpplearn.rouge.reading import TokenizedText


class LineTokens(NamedTuple):
    """A text as ROUGE-L sees it: its lines, which are aligned, and its tokens, which are counted."""

    ids: IntArray  # tokens of the lines, one line after the other
    ends: IntArray  # where each line ends
    counts: IntArray  # how often the text has each token


class NumberedTexts(NamedTuple):
    """Texts as numbers: 0 ... V-1 for the V tokens of the vocabulary, V for others, V + 1 for END.

    The tokens of all texts lie in one array, each text followed by END marks, so that no gram with both ends among
    the tokens crosses from one text to the next. Tokens outside the vocabulary are all the same, and match nothing.
    """

    ids: IntArray
    places: IntArray  # the same with V for END: where a token is counted
    lengths: list[int]  # tokens in each text
    owner: IntArray  # the text that each position belongs to
    size: int  # V
    lines: list[LineTokens]  # of each text, where they are asked for


class TokenNumbers:
    """The tokens that are told apart, those of some texts, by number.

    `pad` END marks follow each text that is numbered: as far apart as the first and the last token of a gram can be.
    """

    def __init__(self, texts: Iterable[TokenizedText], pad: int) -> None:
        distinct = dict.fromkeys(chain.from_iterable(chain(text.tokens, *(text.lines or ())) for text in texts))
        self.number_of = {token: number for number, token in enumerate(distinct)}
        self.pad = pad

    def number(self, texts: Sequence[TokenizedText]) -> NumberedTexts:
        """Number the tokens of the texts."""
        V, get = len(self.number_of), self.number_of.get
        ids: list[int] = []
        lines = []
        for text in texts:
            start = len(ids)
            ids += map(get, text.tokens, repeat(V))
            if text.lines is not None:
                aligned = [get(token, V) for token in chain.from_iterable(text.lines)]
                ends = np.cumsum([len(line) for line in text.lines], dtype=np.int64)
                lines.append(LineTokens(np.array(aligned, np.int64), ends, np.bincount(ids[start:], minlength=V + 1)))
            ids += repeat(V + 1, self.pad)
        lengths = [len(text.tokens) for text in texts]
        owner = np.arange(len(texts)).repeat(np.array(lengths, np.int64) + self.pad)
        numbers = np.array(ids, np.int64)
        return NumberedTexts(numbers, np.minimum(numbers, V), lengths, owner, V, lines)


DIRECT = 1 << 17  # possible keys up to which a table has a cell for each, 1 MB in all


class GramTable:
    """Distinct keys in ascending order, and counts[text, key].

    Where there are few possible keys, all less than `span`, each has a cell that says its place, and no key need be
    sorted or searched.
    """

    def __init__(self, keys: IntArray, owner: IntArray, n_texts: int, span: int) -> None:
        self.cells: IntArray | None = None
        if span > DIRECT:
            self.keys, place = np.unique(keys, return_inverse=True)
        else:
            seen = np.zeros(span, np.bool_)
            seen[keys] = True
            self.keys = seen.nonzero()[0]
            self.cells = np.full(span, self.keys.size)
            self.cells[self.keys] = np.arange(self.keys.size)
            place = self.cells[keys]
        self.counts = count_places(place, owner, n_texts, self.keys.size)

    def find(self, keys: IntArray) -> IntArray:
        """Return the place of each key, or the number of keys for one that is absent."""
        if self.cells is not None:
            return self.cells[keys]
        place = self.keys.searchsorted(keys)
        if self.keys.size:
            place[self.keys.take(place, mode="clip") != keys] = self.keys.size
        return place


def count_places(place: IntArray, owner: IntArray, n_texts: int, size: int) -> IntArray:
    """Return how often each text has each place, as an array of shape (n_texts, size)."""
    flat = (owner * size + place).ravel()
    return np.bincount(flat, minlength=n_texts * size).reshape(n_texts, size)


class GramCounter(ABC):
    """Hits of candidates against the prepared texts, each gram as often as both have it."""

    counts: IntArray  # of each gram in each prepared text

    def __init__(self, texts: NumberedTexts) -> None:
        self.base = texts.size + 2  # keys are numbers of this base, a token the last digit
        self.sizes = Sizes([self.size(length) for length in texts.lengths])

    @abstractmethod
    def size(self, length: int) -> int:
        """Return the number of grams in a text of so many tokens."""

    @abstractmethod
    def find(self, texts: NumberedTexts) -> IntArray:
        """Return the place of each gram in `counts`, by the position of its first token, the last axis."""

    def hits(self, texts: NumberedTexts) -> list[list[float]]:
        """Return the sum over grams of min(count in text q, count in prepared text p), for each q and p."""
        place, size = self.find(texts), self.counts.shape[1]
        owner = texts.owner[: place.shape[-1]]
        counts = count_places(place, owner, len(texts.lengths), size + 1)[:, None, :size]  # less the absent
        hits: list[list[float]] = np.minimum(counts, self.counts).sum(axis=2).tolist()
        return hits


class NGramCounter(GramCounter):
    """The n-grams of the prepared texts, as keys (place of the first n - 1 tokens, last token)."""

    def __init__(self, metric: NGrams, texts: NumberedTexts) -> None:
        self.n = metric.n
        super().__init__(texts)
        self.tables: list[GramTable] = []  # of the bigrams, the trigrams ... up to n
        n_texts = len(texts.lengths)
        place, absent = texts.places, texts.size  # a single token's place is its number
        if self.n == 1:
            self.counts = count_places(place, texts.owner, n_texts, absent + 1)[:, :absent]
        for _ in range(self.n - 1):
            keys = self.longer(place, texts)
            inside = ((place[:-1] < absent) & (texts.ids[texts.ids.size - keys.size :] < texts.size)).nonzero()[0]
            table = GramTable(keys[inside], texts.owner[inside], n_texts, span=(absent + 1) * self.base)
            self.tables.append(table)
            place, absent, self.counts = table.find(keys), table.keys.size, table.counts

    def longer(self, place: IntArray, texts: NumberedTexts) -> IntArray:
        """Return the keys of the grams that are one token longer than those at these places."""
        return place[:-1] * self.base + texts.ids[texts.ids.size - place.size + 1 :]

    def size(self, length: int) -> int:
        return max(length - self.n + 1, 0)

    def find(self, texts: NumberedTexts) -> IntArray:
        place = texts.places
        for table in self.tables:
            place = table.find(self.longer(place, texts))
        return place


class SkipBigramCounter(GramCounter):
    """The skip-bigrams of the prepared texts, as keys (first token, second token); alone, (base, token)."""

    def __init__(self, metric: SkipBigrams, texts: NumberedTexts) -> None:
        self.gaps, self.unigrams = range(1, metric.skip + 2), metric.unigrams
        super().__init__(texts)
        self.no_gram = self.base**2 + self.base - 1  # (base, END), the last key there is
        keys = self.keys(texts)
        known, size = texts.ids < texts.size, keys.shape[1]
        inside = keys != self.no_gram
        for gap in self.gaps:
            inside[gap - 1] = known[gap : gap + size]
        row, position = (inside & known[:size]).nonzero()
        self.table = GramTable(keys[row, position], texts.owner[position], len(texts.lengths), span=self.no_gram + 1)
        self.counts = self.table.counts

    def keys(self, texts: NumberedTexts) -> IntArray:
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

    def size(self, length: int) -> int:
        before = max(length - 1, 0)  # tokens with a next one: 1 for the last of them, then 2 ...
        full = max(before - len(self.gaps), 0)
        part = before - full
        pairs = full * len(self.gaps) + part * (part + 1) // 2
        return pairs + before if self.unigrams else pairs

    def find(self, texts: NumberedTexts) -> IntArray:
        return self.table.find(self.keys(texts))


MOST_CELLS = 1 << 30  # of one pair of lines: 1 GB for the way back through the table


class SubsequenceCounter:
    """Hits of candidates against prepared references: single ones, or runs of k as k^weight."""

    def __init__(self, metric: Subsequence, texts: NumberedTexts) -> None:
        self.runs, self.references = metric.runs, texts.lines
        lengths = [line_lengths(text) for text in texts.lines]
        self.longest = max(map(max, lengths))
        power = [float(k) ** metric.weight for k in range(self.longest + 1)]
        self.power = np.array(power)
        each = [plain_sum(power[length] for length in lines) for lines in lengths]
        self.sizes = Sizes(each, metric.weight, lines=True)

    def size(self, length: int) -> int:
        """Return the size of a candidate of so many tokens: the tokens, whatever its lines."""
        return length

    def hits(self, texts: NumberedTexts) -> list[list[float]]:
        """Return the hits of each candidate against each reference."""
        from dpplearn.rouge._loops import subsequence_hits  # here: numba takes a moment to import

        hits = []
        for text in texts.lines:
            n = max(line_lengths(text))
            if self.longest * n > MOST_CELLS:
                what = f"{self.longest:,} by {n:,} tokens is too much"
                raise ValueError(f"ROUGE-L and ROUGE-W align lines, but {what}. Put one sentence on each line.")
            pairs = [subsequence_hits(reference, text, self.power, n) for reference in self.references]
            hits.append([float(pair[self.runs]) for pair in pairs])  # the number of hits, or the weight of their runs
        return hits


def line_lengths(text: LineTokens) -> list[int]:
    """Return the number of tokens on each line; where there is no line, as if it were one without tokens."""
    return np.diff(text.ends, prepend=0).tolist() or [0]
