"""Texts as numbers in arrays, which is what the counters see."""

from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np

from dpplearn._checks import IntArray
from dpplearn.rouge.reading import Reading


class Lines(NamedTuple):
    """A text as ROUGE-L sees it: its lines, which are aligned, and its tokens, which are counted."""

    ids: IntArray  # tokens of the lines, one line after the other
    ends: IntArray  # where each line ends
    counts: IntArray  # how often the text has each token


class Numbered(NamedTuple):
    """Texts as numbers: 0 ... V-1 for the V tokens of the vocabulary, V for others, V + 1 for END.

    The tokens of all texts lie in one array, each text followed by END marks, so that no gram with both ends among
    the tokens crosses from one text to the next. Tokens outside the vocabulary are all the same, and match nothing.
    """

    ids: IntArray
    places: IntArray  # the same with V for END: where a token is counted
    lengths: list[int]  # tokens in each text
    owner: IntArray  # the text that each position belongs to
    size: int  # V
    lines: list[Lines]  # of each text, where they are asked for


class Vocabulary:
    """The tokens that are told apart, those of some texts, by number.

    Parameters
    ----------
    texts : iterable of Reading
    pad : int
        END marks after each text that is numbered: how far apart the first and the last token of a gram can be.
    """

    def __init__(self, texts: Iterable[Reading], pad: int) -> None:
        distinct = dict.fromkeys(chain.from_iterable(chain(text.tokens, *(text.lines or ())) for text in texts))
        self.number_of = {token: number for number, token in enumerate(distinct)}
        self.pad = pad

    def number(self, texts: Sequence[Reading]) -> Numbered:
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
                lines.append(Lines(np.array(aligned, np.int64), ends, np.bincount(ids[start:], minlength=V + 1)))
            ids += repeat(V + 1, self.pad)
        lengths = [len(text.tokens) for text in texts]
        owner = np.arange(len(texts)).repeat([length + self.pad for length in lengths])
        numbers = np.array(ids, np.int64)
        return Numbered(numbers, np.minimum(numbers, V), lengths, owner, V, lines)
