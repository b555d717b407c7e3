"""What sentences are about: the words that mean most in a cluster, and in words what their features say."""

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
from dpplearn.summarize.corpora.cluster import Sentence, document_name
from dpplearn.summarize.model.about import ASKING
from dpplearn.summarize.model.features import FEATURE_SETS, Feature
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.text.matter import in_twos
from dpplearn.summarize.text.words import SINGLE, small_words, word_lists

SMALL_WORD = 3  # words of up to so many letters mean little, unless they are names or written in characters
LONG_WORD = 8  # words of fewer letters weigh less, because they are less often what a text is about
NAME_WEIGHT = 1.5  # the weight of a name, in units of that of a long word
FEW_WORDS = 3  # number of words that stand for many
TOPICS = 3  # number of topics that are named
SEVERAL = 5  # if sentences have fewer words than that in common, all their words count instead
LEFT_TO_RIGHT = "\u200e"
_SINGLE = re.compile(f"[{SINGLE}]")
_WRITTEN = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")


class Vocabulary:
    """The words of a cluster that mean something, and how much each weighs.

    A word in d of n sentences weighs d log^2(n / d) over all of them: most for names of the matter at hand, little for
    words that all sentences have or only one. Small words ("the", "is", and all of three letters that are no names) and
    numbers weigh nothing.
    """

    def __init__(self, split: SplitCluster) -> None:
        self.written = spellings(split.texts)
        self.words = [frozenset(in_twos(tokens)) for tokens in split.words]  # of each sentence
        count, n = Counter(chain.from_iterable(self.words)), len(self.words) + 1.0
        self.worths: dict[str, float] = {}  # the weight of each word that means something
        for word, k in count.items():
            name = len(word) > 1 and self.written.get(word, word) != word  # with a capital inside sentences
            large = len(word) > SMALL_WORD or _SINGLE.match(word) is not None or name
            if large and not word[0].isdigit() and word not in without_meaning():
                size = NAME_WEIGHT if name else min(len(word), LONG_WORD) / LONG_WORD
                self.worths[word] = k * math.log(n / k) ** 2 * size
        self.several = {word for word, k in count.items() if k > 1}  # words that several sentences have

    @classmethod
    def of(cls, split: SplitCluster) -> Self:
        """The vocabulary of a cluster, made once: summaries of other lengths need it again."""
        if split not in _VOCABULARIES:
            _VOCABULARIES[split] = cls(split)
        return _VOCABULARIES[split]

    def worth(self, words: Iterable[str]) -> float:
        """The weight of words together."""
        return math.fsum(self.worths.get(word, 0.0) for word in words)

    def strongest(self, words: Iterable[str], most: int = FEW_WORDS) -> tuple[str, ...]:
        """The few words that weigh most in the whole cluster, as they are written there."""
        heavy = sorted({*words} & self.worths.keys(), key=lambda word: (-self.worths[word], word))
        return tuple(self.written.get(word, word) for word in heavy[:most])

    def words_in(self, subset: IntArray) -> set[str]:
        """All words of some sentences."""
        return set().union(*(self.words[j] for j in subset.tolist()))

    def covered_share(self, subset: IntArray) -> float:
        """The share that a set has of the weight of all words that several sentences have, or of all words."""
        words = self.several if len(self.worths.keys() & self.several) >= SEVERAL else self.worths.keys()
        total = self.worth(words)
        return self.worth(words & self.words_in(subset)) / total if total else 1.0

    def missing_topics(self, subset: IntArray) -> tuple[tuple[str, ...], ...]:
        """Topics that a set says nothing of: words of the sentence with most of it, then of the next, without these.

        Only words that at least two sentences have count, and a topic has at least two of them.
        """
        covered, topics = self.words_in(subset), list[tuple[str, ...]]()
        common = [words & self.several & self.worths.keys() for words in self.words]
        while len(topics) < TOPICS:
            new = max((words - covered for words in common), key=self.worth)
            topic = self.strongest(new)
            if len(topic) < 2:
                break
            topics.append(topic)
            covered |= new
        return tuple(topics)


_VOCABULARIES: WeakKeyDictionary[SplitCluster, Any] = WeakKeyDictionary()  # each goes with its cluster


@cache
def without_meaning() -> frozenset[str]:
    """Words that no text is about: small ones, those that mark sentences or lean on others, days and months."""
    lists = ("sentence-words", "leaning-words", "months")
    return small_words().union(ASKING, *(words for name in lists for words in word_lists(name).values()))


def spellings(texts: Iterable[str]) -> dict[str, str]:
    """Each word as it is written most often, where it does not begin a sentence."""
    split = [_WRITTEN.findall(text) for text in texts]
    later = Counter(word for words in split for word in words[1:])
    counts = Counter(words[0] for words in split if words) + Counter({word: 100 * k for word, k in later.items()})
    plain = (re.sub(r"['’]s$", "", word) for word in sorted(counts, key=counts.__getitem__))
    return {word.lower(): word for word in plain}  # the last spelling, which is the most frequent one, stays


def quoted(words: Iterable[str]) -> str:
    """Words in quotes: “spillway”, “cost”.

    A word that is written from right to left is followed by a mark (U+200E), or its quotes would be shown elsewhere.

    Examples
    --------
    >>> print(ascii(quoted(["שלום", "peace"]).replace("שלום", "...")))
    '\\u201c...\\u201d\\u200e, \\u201cpeace\\u201d'
    """
    backward = (unicodedata.bidirectional(word[-1:] or "x") in ("R", "AL") for word in words)
    return ", ".join(f"“{word}”{LEFT_TO_RIGHT * mark}" for word, mark in zip(words, backward, strict=True))


def place_in_words(document: str, sentence: Sentence) -> str:
    """The document and place of a sentence, in words, from the id of its document."""
    return f"{document_name(document)}, sentence {sentence.position}"


PLACE, ADDS = "place", "adds"


@dataclass(frozen=True, eq=False)
class Idea:
    """What some features mean together, with words for a sentence that has much of it, or little.

    `less` says that a sentence has less of it than the chosen ones.
    """

    name: str
    features: tuple[str, ...]
    high: str
    low: str
    less: str = ""


PLACES = ("position", "toward the beginning", "among the first", "end of a long document")
ALIKE = ("similarity", "lexrank", "repeated word pairs", "like other documents")
IDEAS = (
    Idea(PLACE, PLACES, "stands early in its document", "stands late in its document", "later in its document"),
    Idea("central", ALIKE, "more central than most", "less central than most", "less central"),
    Idea(
        "titles",
        ("words of titles",),
        "has words of the titles",
        "has few words of the titles",
        "fewer words of the titles",
    ),
    Idea("length", ("length",), "is rather long", "is rather short"),
    Idea("long words", ("long words",), "has long words", "has short words"),
    Idea("brackets", ("brackets",), "has brackets", "has no brackets"),
)
ABOUT = Idea("about", (), "is about the question", "says little about the question", "less close to the question")
LIKELY = Idea(
    "expected", (), "has words that most summaries would have", "has few words that summaries would have",
    "fewer words that summaries would have",
)  # fmt: skip
FAR_WORDS = "shares no word with the question, but is close to sentences that do"  # instead of the words of ABOUT
OTHER_PLACE = "where it stands counts for less"  # instead of "later", for a sentence that is no later


@cache
def columns_of(features: str) -> dict[Feature, IntArray]:
    """The numbers of the columns of F that each feature of a set has."""
    columns, end = dict[Feature, IntArray](), 0
    for feature in FEATURE_SETS[features]:
        start, end = end, end + len(feature.columns)
        columns[feature] = np.arange(start, end)
    return columns


def ideas_of(features: str) -> dict[Idea, IntArray]:
    """The ideas of a set of features, with the numbers of their columns; the constant has none.

    Examples
    --------
    >>> [(idea.name, columns.tolist()) for idea, columns in ideas_of("general").items()][:2]
    [('place', [1, 2, 3]), ('central', [5, 6])]
    """
    ideas = dict[Idea, IntArray]()
    for idea in IDEAS:
        if parts := [columns for feature, columns in columns_of(features).items() if feature.name in idea.features]:
            ideas[idea] = np.concatenate(parts)
    return ideas


def level_of(idea: Idea, F: FloatArray, features: str) -> FloatArray:
    """How much of an idea each sentence has: the share of the others that have less, on average over its features.

    A feature is measured by its number if that is a column, else by its bin; an early position is much.
    """
    values = []
    for feature, columns in columns_of(features).items():
        if feature.name in idea.features:
            is_number = feature.raw or feature.rank
            value = F[:, columns[0]] if is_number else F[:, columns] @ np.arange(1.0, columns.size + 1)
            values.append(-value if feature.name == "position" else value)
    return level(values)


def level(values: Sequence[FloatArray]) -> FloatArray:
    """The share of the other sentences that have less of something, on average over some ways to measure it."""
    n, total = len(values[0]), np.zeros(len(values[0]))
    for value in values:
        order = np.sort(value)
        total += np.searchsorted(order, value, "left") + np.searchsorted(order, value, "right") - 1.0
    return total / (len(values) * max(2 * (n - 1), 1))


def placed(sentence: Sentence, last: int, documents: int) -> str:
    """Whether a sentence opens its document, or stands early or late, from the position of the last one there.

    Examples
    --------
    >>> placed(Sentence("It fell.", 0, 1, 0, 8), 10, 3), placed(Sentence("It fell.", 0, 10, 90, 98), 10, 1)
    ('opens its document', 'stands late in the text')
    """
    early = sentence.position <= max(5, last / 2)
    how = "opens" if sentence.position == 1 else "stands early in" if early else "stands late in"
    return f"{how} {'its document' if documents > 1 else 'the text'}"
