"""The words that sentences are about: which of them two have in common, and which a set leaves out."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import chain
from typing import Any, Self
from weakref import WeakKeyDictionary

from dpplearn._checks import IntArray
from dpplearn.summarize.corpora.cluster import Sentence
from dpplearn.summarize.model.about import ASKING
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.text.matter import in_twos
from dpplearn.summarize.text.words import SINGLE, small_words, word_lists

SMALL_WORD = 3  # letters of words that mean little, unless they are names or written in characters
LONG_WORD = 8  # letters: shorter words weigh less, as they are less often what a text is about
NAME_WEIGHT = 1.5  # how much more than a long word a name weighs
FEW_WORDS = 3  # words that stand for many
TOPICS = 3  # that are named
SEVERAL = 5  # words that sentences have in common: of fewer, a share is all or nothing
LEFT_TO_RIGHT = "\u200e"
_SINGLE = re.compile(f"[{SINGLE}]")
_WRITTEN = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")


class Vocabulary:
    """The words of a cluster that mean something, and how much each weighs.

    A word in d of n sentences weighs d log^2(n / d) over all of them: names of the matter at hand, neither what all
    sentences have nor what one has alone. Small words ("the", "is", and all of three letters that are no names) and
    numbers weigh nothing.
    """

    def __init__(self, read: SplitCluster) -> None:
        self.written = spellings(read.texts)
        self.words = [frozenset(in_twos(tokens)) for tokens in read.words]  # of each sentence
        count, n = Counter(chain.from_iterable(self.words)), len(self.words) + 1.0
        self.worths: dict[str, float] = {}  # what all sentences say with a word that means something
        for word, k in count.items():
            own = len(word) > SMALL_WORD or _SINGLE.match(word) is not None or self.is_name(word)
            if own and not word[0].isdigit() and word not in without_meaning():
                size = NAME_WEIGHT if self.is_name(word) else min(len(word), LONG_WORD) / LONG_WORD
                self.worths[word] = k * math.log(n / k) ** 2 * size
        self.several = {word for word, k in count.items() if k > 1}  # words that several sentences have
        self.common = [words & self.several & self.worths.keys() for words in self.words]

    @classmethod
    def of(cls, read: SplitCluster) -> Self:
        """That of a cluster, made once: whoever asks for other lengths of a summary needs it again."""
        if read not in _MADE:
            _MADE[read] = cls(read)
        return _MADE[read]

    def is_name(self, word: str) -> bool:
        """Whether it is written with a capital inside sentences; a letter alone is none."""
        return len(word) > 1 and self.written.get(word, word) != word

    def worth(self, words: Iterable[str]) -> float:
        """What words weigh together."""
        return math.fsum(self.worths.get(word, 0.0) for word in words)

    def strongest(self, words: Iterable[str]) -> tuple[str, ...]:
        """The few of the words that weigh most in the whole cluster, as they are written there."""
        heavy = sorted({*words} & self.worths.keys(), key=lambda word: (-self.worths[word], word))
        return tuple(self.written.get(word, word) for word in heavy[:FEW_WORDS])

    def said(self, subset: IntArray) -> set[str]:
        """All words of some sentences."""
        return set().union(*(self.words[j] for j in subset.tolist()))

    def covered(self, subset: IntArray) -> float:
        """The share that a set has of what the words of the cluster weigh: of those that several sentences have.

        Of all of them, where sentences have hardly one in common.
        """
        words = self.several if len(self.worths.keys() & self.several) >= SEVERAL else self.worths.keys()
        total = self.worth(words)
        return self.worth(words & self.said(subset)) / total if total else 1.0

    def missing(self, subset: IntArray) -> tuple[tuple[str, ...], ...]:
        """What a set says nothing of: words of the sentence with most of it, then of the next, without these.

        Of words that at least two sentences have; a topic has two of them.
        """
        gone, topics = self.said(subset), list[tuple[str, ...]]()
        while len(topics) < TOPICS:
            new = max((words - gone for words in self.common), key=self.worth)
            topic = self.strongest(new)
            if len(topic) < 2:
                break
            topics.append(topic)
            gone |= new
        return tuple(topics)


_MADE: WeakKeyDictionary[SplitCluster, Any] = WeakKeyDictionary()  # a Vocabulary holds no cluster, so that it may go


@cache
def without_meaning() -> frozenset[str]:
    """Words that no text is about: small ones, those that tell sentences or what leans, names of days and months."""
    lists = ("sentence-words", "leaning-words", "months")
    return small_words().union(ASKING, *(words for name in lists for words in word_lists(name).values()))


def spellings(texts: Iterable[str]) -> dict[str, str]:
    """Each word as it is written most often, where it does not begin a sentence."""
    split = [_WRITTEN.findall(text) for text in texts]
    inside = Counter(word for words in split for word in words[1:])
    often = Counter(words[0] for words in split if words) + Counter({word: 100 * k for word, k in inside.items()})
    plain = (re.sub(r"['’]s$", "", word) for word, _ in sorted(often.items(), key=lambda item: item[1]))
    return {word.lower(): word for word in plain}  # the last, most frequent one stays


def quoted(words: Iterable[str]) -> str:
    """Words in a row: “spillway”, “cost”.

    After a word that is written from right to left stands a mark (U+200E), or its quotes would be shown elsewhere.

    Examples
    --------
    >>> print(ascii(quoted(["שלום", "peace"]).replace("שלום", "...")))
    '\\u201c...\\u201d\\u200e, \\u201cpeace\\u201d'
    """
    backward = (unicodedata.bidirectional(word[-1:] or "x") in ("R", "AL") for word in words)
    return ", ".join(f"“{word}”{LEFT_TO_RIGHT * mark}" for word, mark in zip(words, backward, strict=True))


def document_name(document: str) -> str:
    """What words call a document, from its id: one that has only a number is "document 2".

    Examples
    --------
    >>> document_name("2"), document_name("report.txt")
    ('document 2', 'report.txt')
    """
    return f"document {document}" if document.isdigit() else document


def place_in_words(document: str, sentence: Sentence) -> str:
    """Where a sentence stands, in words, from the id of its document."""
    return f"{document_name(document)}, sentence {sentence.position}"
