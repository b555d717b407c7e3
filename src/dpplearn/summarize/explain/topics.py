"""What sentences are about, by their words and by their features, in words; and what a set of them leaves out."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.summarize.corpora.cluster import Sentence
from dpplearn.summarize.model.about import ASKING
from dpplearn.summarize.model.features import FEATURE_SETS, Feature
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

    def __init__(self, split: SplitCluster) -> None:
        self.written = spellings(split.texts)
        self.words = [frozenset(in_twos(tokens)) for tokens in split.words]  # of each sentence
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
    def of(cls, split: SplitCluster) -> Self:
        """That of a cluster, made once: whoever asks for other lengths of a summary needs it again."""
        if split not in _MADE:
            _MADE[split] = cls(split)
        return _MADE[split]

    def is_name(self, word: str) -> bool:
        """Whether it is written with a capital inside sentences; a letter alone is none."""
        return len(word) > 1 and self.written.get(word, word) != word

    def worth(self, words: Iterable[str]) -> float:
        """What words weigh together."""
        return math.fsum(self.worths.get(word, 0.0) for word in words)

    def strongest(self, words: Iterable[str], most: int = FEW_WORDS) -> tuple[str, ...]:
        """The few of the words that weigh most in the whole cluster, as they are written there."""
        heavy = sorted({*words} & self.worths.keys(), key=lambda word: (-self.worths[word], word))
        return tuple(self.written.get(word, word) for word in heavy[:most])

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


PLACE, ADDS = "place", "adds"


@dataclass(frozen=True, eq=False)
class Idea:
    """What some features say of a sentence: the words where it has much of it, and little.

    `less` says that it has less of it than the chosen sentences.
    """

    name: str
    features: tuple[str, ...]
    high: str
    low: str
    less: str = ""


PLACES = ("position", "toward the beginning", "among the first", "end of a long document")
ALIKE = ("similarity", "lexrank", "repeated word pairs", "like other documents")
TITLES = ("words of titles",)
IDEAS = (
    Idea(PLACE, PLACES, "stands early in its document", "stands late in its document", "later in its document"),
    Idea("central", ALIKE, "more central than most", "less central than most", "less central"),
    Idea("titles", TITLES, "has words of the titles", "has few words of the titles", "fewer words of the titles"),
    Idea("length", ("length",), "is rather long", "is rather short"),
    Idea("long words", ("long words",), "has long words", "has short words"),
    Idea("brackets", ("brackets",), "has brackets", "has no brackets"),
)
ABOUT = Idea("about", (), "is about the question", "says little about the question", "less close to the question")
LIKELY = Idea(
    "expected", (), "has words that most summaries would have", "has few words that summaries would have",
    "fewer words that summaries would have",
)  # fmt: skip
FAR_WORDS = "shares no word with the question, but is close to sentences that do"  # relevant by the walk alone
OTHER_PLACE = "where it stands counts for less"  # of what is not later than the chosen ones


@cache
def columns_of(features: str) -> dict[Feature, IntArray]:
    """The numbers of the columns of F that each feature of a set has."""
    ends = np.cumsum([len(one.columns) for one in FEATURE_SETS[features]])
    return {one: np.arange(end - len(one.columns), end) for one, end in zip(FEATURE_SETS[features], ends, strict=True)}


def ideas_of(features: str) -> dict[Idea, IntArray]:
    """The ideas that a set of features is about, with the numbers of their columns; the constant is about none.

    Examples
    --------
    >>> [(idea.name, own.tolist()) for idea, own in ideas_of("general").items()][:2]
    [('place', [1, 2, 3]), ('central', [5, 6])]
    """
    found = {idea: [own for one, own in columns_of(features).items() if one.name in idea.features] for idea in IDEAS}
    return {idea: np.concatenate(own) for idea, own in found.items() if own}


def level_of(idea: Idea, F: FloatArray, features: str) -> FloatArray:
    """How much of an idea each sentence has: the share of the others that have less, on average over its features.

    Of a feature with a column for its number that counts, else its bin; an early position is much of it.
    """
    values = []
    for one, own in columns_of(features).items():
        if one.name in idea.features:
            value = F[:, own[0]] if one.raw or one.rank else F[:, own] @ np.arange(1.0, own.size + 1)
            values.append(-value if one.name == "position" else value)
    return level(values)


def level(values: Sequence[FloatArray]) -> FloatArray:
    """The share of the other sentences that have less of something, on average over some ways to measure it."""
    n, total = len(values[0]), np.zeros(len(values[0]))
    for value in values:
        order = np.sort(value)
        total += np.searchsorted(order, value, "left") + np.searchsorted(order, value, "right") - 1.0
    return total / (len(values) * max(2 * (n - 1), 1))


def placed(sentence: Sentence, last: int, documents: int) -> str:
    """Where a sentence stands, in words, from the position of the last one in its document.

    Examples
    --------
    >>> placed(Sentence("It fell.", 0, 1, 0, 8), 10, 3), placed(Sentence("It fell.", 0, 10, 90, 98), 10, 1)
    ('opens its document', 'stands late in the text')
    """
    early = sentence.position <= max(5, last / 2)
    how = "opens" if sentence.position == 1 else "stands early in" if early else "stands late in"
    return f"{how} {'its document' if documents > 1 else 'the text'}"
