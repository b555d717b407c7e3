"""What the features of sentences are about, in words: several columns that say one thing are one idea."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.summarize.corpora.cluster import Sentence

_BINS = re.compile(r" (?:rank|\d\+?|\d+/\d+(?: of cluster)?)$")
PLACE, ADDS = "place", "adds"


@dataclass(frozen=True)
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
NEAR = "shares no word with the question, but is close to sentences that do"  # relevant by the walk alone
OTHER_PLACE = "where it stands counts for less"  # of what is not later than the chosen ones


def feature_of(column: str) -> str:
    """The feature that a column is made of: its name without the bin.

    Examples
    --------
    >>> [feature_of(name) for name in ("lexrank 5/5 of cluster", "position 6+", "length rank", "brackets")]
    ['lexrank', 'position', 'length', 'brackets']
    """
    return _BINS.sub("", column)


def ideas_of(columns: Sequence[str]) -> dict[Idea, IntArray]:
    """The ideas that columns are about, with the numbers of these; the constant is about none.

    Examples
    --------
    >>> found = ideas_of(["constant", "position 1", "length", "position 2"])
    >>> [(idea.name, own.tolist()) for idea, own in found.items()]
    [('place', [1, 3]), ('length', [2])]
    """
    features = [*map(feature_of, columns)]
    found = {idea: np.flatnonzero([name in idea.features for name in features]) for idea in IDEAS}
    return {idea: own for idea, own in found.items() if own.size}


def levels(F: FloatArray, columns: Sequence[str]) -> FloatArray:
    """How much of an idea each sentence has: the share of the others that have less, on average over its features.

    Of a feature with a column for its number that counts, else its bin; an early position is much of it.
    """
    features: dict[str, list[int]] = {}
    for j, column in enumerate(columns):
        features.setdefault(feature_of(column), []).append(j)
    total = np.zeros(len(F))
    for name, own in features.items():
        value = F[:, own[0]] if columns[own[0]] == name else F[:, own] @ np.arange(1.0, len(own) + 1)
        value = -value if name == "position" else value
        order = np.sort(value)
        total += np.searchsorted(order, value, "left") + np.searchsorted(order, value, "right") - 1.0
    return total / (len(features) * max(2 * (len(F) - 1), 1))


def placed(sentence: Sentence, last: int, documents: int) -> str:
    """Where a sentence stands, in words, from the position of the last one in its document.

    Examples
    --------
    >>> placed(Sentence("It fell.", 0, 1, 0, 8), 10, 3), placed(Sentence("It fell.", 0, 10, 90, 98), 10, 1)
    ('opens its document', 'stands late in the text')
    """
    how = (
        "opens"
        if sentence.position == 1
        else f"stands {'early' if sentence.position <= max(5, last / 2) else 'late'} in"
    )
    return f"{how} {'its document' if documents > 1 else 'the text'}"
