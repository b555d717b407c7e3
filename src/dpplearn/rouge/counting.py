"""Counts the hits of many texts at once: n-grams, skip-bigrams and common subsequences.

Each gram becomes an integer key. The prepared texts become a table of the distinct keys, with the count of each key in
each text, in which the grams of other texts are looked up.
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
    """A text for ROUGE-L: its lines, which are aligned, and the counts of its tokens."""

    ids: IntArray  # tokens of all lines, one line after the other
    ends: IntArray  # where each line ends
    counts: IntArray  # of each token in the text


class NumberedTexts(NamedTuple):
    """Texts as numbers: 0 ... V-1 for the V tokens of the vocabulary, V for other tokens, V + 1 for END.

    The tokens of all texts are in one array. END marks follow each text, so that no gram between two tokens crosses
    from one text to the next.
    """

    ids: IntArray
    places: IntArray  # ids with V in place of END, where a token is counted
    lengths: list[int]  # tokens in each text
    owner: IntArray  # the text of each position
    size: int  # V
    lines: list[LineTokens]  # of each text, if a metric needs them


class TokenNumbers:
    """A vocabulary: numbers for the tokens of some texts.

    `pad` END marks follow each numbered text, as many as there can be tokens after the first of a gram.
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


DIRECT = 1 << 17  # with at most so many possible keys, a table has a cell for each: 1 MB in all


class GramTable:
    """Distinct keys in ascending order, and counts[text, key].

    If there are few possible keys (`span`), each has a cell with its place, so that none need be sorted or searched.
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
    """Counts the grams that candidates and prepared texts have in common, each as often as both have it."""

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
        counts = count_places(place, owner, len(texts.lengths), size + 1)[:, None, :size]  # without absent grams
        hits: list[list[float]] = np.minimum(counts, self.counts).sum(axis=2).tolist()
        return hits


class NGramCounter(GramCounter):
    """Counts n-grams, with keys (place of the first n - 1 tokens, last token)."""

    def __init__(self, metric: NGrams, texts: NumberedTexts) -> None:
        self.n = metric.n
        super().__init__(texts)
        self.tables: list[GramTable] = []  # of the bigrams, the trigrams ... up to n
        n_texts = len(texts.lengths)
        place, absent = texts.places, texts.size  # the place of a single token is its number
        if self.n == 1:
            self.counts = count_places(place, texts.owner, n_texts, absent + 1)[:, :absent]
        for _ in range(self.n - 1):
            keys = self.longer(place, texts)
            inside = ((place[:-1] < absent) & (texts.ids[texts.ids.size - keys.size :] < texts.size)).nonzero()[0]
            table = GramTable(keys[inside], texts.owner[inside], n_texts, span=(absent + 1) * self.base)
            self.tables.append(table)
            place, absent, self.counts = table.find(keys), table.keys.size, table.counts

    def longer(self, place: IntArray, texts: NumberedTexts) -> IntArray:
        """Return the keys of the grams one token longer than those at these places."""
        return place[:-1] * self.base + texts.ids[texts.ids.size - place.size + 1 :]

    def size(self, length: int) -> int:
        return max(length - self.n + 1, 0)

    def find(self, texts: NumberedTexts) -> IntArray:
        place = texts.places
        for table in self.tables:
            place = table.find(self.longer(place, texts))
        return place


class SkipBigramCounter(GramCounter):
    """Counts skip-bigrams, with keys (first token, second token), and (base, token) for single tokens."""

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
        """Return the keys of pairs, by gap (rows) and position (columns), and in the last row of single tokens."""
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
        before = max(length - 1, 0)  # tokens with at least one token after them
        full = max(before - len(self.gaps), 0)
        part = before - full
        pairs = full * len(self.gaps) + part * (part + 1) // 2
        return pairs + before if self.unigrams else pairs

    def find(self, texts: NumberedTexts) -> IntArray:
        return self.table.find(self.keys(texts))


MOST_CELLS = 1 << 30  # for one pair of lines: 1 GB for the way back through the table


class SubsequenceCounter:
    """Counts hits on longest common subsequences, or with `runs` the weights k^weight of runs of k hits."""

    def __init__(self, metric: Subsequence, texts: NumberedTexts) -> None:
        self.runs, self.references = metric.runs, texts.lines
        lengths = [line_lengths(text) for text in texts.lines]
        self.longest = max(map(max, lengths))
        power = [float(k) ** metric.weight for k in range(self.longest + 1)]
        self.power = np.array(power)
        each = [plain_sum(power[length] for length in lines) for lines in lengths]
        self.sizes = Sizes(each, metric.weight, lines=True)

    def size(self, length: int) -> int:
        """Return the size of a candidate with so many tokens, whatever its lines."""
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
            hits.append([float(pair[self.runs]) for pair in pairs])
        return hits


def line_lengths(text: LineTokens) -> list[int]:
    """Return the number of tokens on each line; a text without lines counts as one empty line."""
    return np.diff(text.ends, prepend=0).tolist() or [0]
