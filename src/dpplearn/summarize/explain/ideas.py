"""What the features of sentences are about, in words: several columns that say one thing are one idea."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.summarize.corpora.cluster import Sentence
from dpplearn.summarize.model.quality_features import FEATURE_SETS, Feature

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
