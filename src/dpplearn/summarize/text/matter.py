"""Compares what sentences tell, by their words: do two tell the same, does one say all that another says, and does a
sentence speak of "the council" as if the reader knew it?

English words are compared by their stems, others by their first letters. Small words, days, months and the source of a
statement do not count; a word counts more if fewer sentences have it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import NamedTuple

from dpplearn.rouge.stems import STEMS, Memory
from dpplearn.summarize.text.tolls import SMALL_NUMBERS, tolls
from dpplearn.summarize.text.words import DATES, SINGLE, small_words, word_lists, word_set, words

NEARLY_ALL_SHARED = 0.75  # of what one of two sentences tells, the other has: then they tell the same
MUCH_SHARED = (0.5, 0.25)  # or these shares of the one that tells less, and of the other
MOST_SHARED = 0.6  # share of a sentence that another one has that says it
FEWEST_SHARED = 3  # words that two sentences share at least
_STEM_LETTERS = 6  # letters by which words are compared that have no stem
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_REPORTS = "says?|said|reports|reported|announced|confirmed|claimed|insists?"
_WHO_SAYS = re.compile(  # in front of what is said, or behind it
    rf"^[^,;]{{3,80}}? (?:{_REPORTS}|told [\w ]{{2,30}}?)(?: on \w+day)? that |, (?:{_REPORTS}) [^,;]{{3,80}}$"
    rf"|, [^,;]{{3,80}} (?:{_REPORTS})(?: on \w+day)?\.?$"
)
_ONE_CHARACTER = re.compile(f"[{SINGLE}]")
_NAME_LIKE = re.compile(r"(?<=[\w,;:)’'] )[^\W\d_a-zß-öø-ÿ][\w’'-]*")  # inside a sentence


_FIRST_THING = re.compile(  # "The council voted", "On Monday, the old law was": a noun before what may be its verb
    r"^(?:[A-Z][\w ]{2,30}, )?[Tt]he (?:[a-z][a-z-]* ){0,2}?([a-z-]+) "
    r"(?:is|was|were|are|has|have|had|will|would|could|can|may|said|[a-z]+ed|[a-z]+s)\b"
)
_THING = re.compile(  # "accused in the hearing.", but not "the use of force"
    r"\b[Tt]he (?:[a-z][a-z-]* ){0,2}?([a-z-]+)(?:(?= )(?! (?:of|that|who|which|between|in|on|to|for) )|(?=[.,;]))"
)


class Matter(NamedTuple):
    """The stems of a sentence's words, its figures and names, and the kinds of victims that it counts."""

    stems: frozenset[str]
    figures: frozenset[str]
    names: frozenset[str]
    toll: frozenset[str]


def matter(text: str) -> Matter:
    """The words of a sentence that tell something.

    Examples
    --------
    >>> sorted(matter("The mayor of Brenn said on Monday that two bridges were closed.").stems)
    ['2', 'bridg', 'close']
    """
    stems = frozenset(STEM_OF[word] for word in in_twos(words(_WHO_SAYS.sub("", text))) if word not in _little())
    names = frozenset(STEM_OF[word] for name in _NAME_LIKE.findall(text) for word in words(name)) - _little()
    return Matter(stems, frozenset(one for one in stems if one[0].isdigit()), names, frozenset(tolls(text)))


class Matters:
    """The matter of each sentence of a cluster, with weights of words."""

    def __init__(self, texts: Sequence[str], said: Iterable[Sequence[str]] | None = None) -> None:
        """Take the sentences, and their words if these are known."""
        self.texts, self.known = texts, dict[int, Matter]()
        stems = ({STEM_OF[word] for word in in_twos(one)} for one in (map(words, texts) if said is None else said))
        self.count = Counter(chain.from_iterable(stems))

    def __getitem__(self, i: int) -> Matter:
        if i not in self.known:
            self.known[i] = matter(self.texts[i])
        return self.known[i]

    def weight(self, stems: Iterable[str]) -> float:
        """The weight of some words together."""
        return math.fsum(math.log((len(self.texts) + 1.0) / self.count[stem]) for stem in stems)

    def size(self, i: int) -> float:
        """How much a sentence tells: the weight of its words."""
        return self.weight(self[i].stems)

    def repeats(self, i: int, j: int) -> bool:
        """Whether two sentences tell the same, perhaps at different times or in different words.

        If each has a figure that the other lacks, they tell different things, unless the figures count victims.

        Examples
        --------
        >>> texts = ["A flood killed ten people in Brenn.", "The Brenn flood killed 14 people.", "Brenn has ten mills."]
        >>> told = Matters(texts)
        >>> told.repeats(0, 1), told.repeats(0, 2)
        (True, False)
        """
        one, other = self[i], self[j]
        shared = one.stems & other.stems
        apart = one.figures - other.figures and other.figures - one.figures and one.toll.isdisjoint(other.toll)
        if len(shared) < FEWEST_SHARED or apart:
            return False
        both, (less, more) = self.weight(shared), sorted((self.size(i), self.size(j)))
        return both >= NEARLY_ALL_SHARED * less or (both >= MUCH_SHARED[0] * less and both >= MUCH_SHARED[1] * more)

    def says(self, j: int, i: int) -> bool:
        """Whether sentence j says what sentence i says: most of it, and every name and figure.

        False for a sentence without a word that tells something.
        """
        theirs, own = self[j], self[i]
        if not (own.figures <= theirs.figures and own.names <= theirs.names | theirs.stems):
            return False
        return 0.0 < MOST_SHARED * self.size(i) <= self.weight(own.stems & theirs.stems)


def refers_back(
    texts: Sequence[str], said: Sequence[Sequence[str]], documents: Sequence[int], anywhere: bool = False
) -> list[bool]:
    """Whether each English sentence begins with a thing, "the council", that its document mentions before.

    `anywhere` also counts things inside the sentence: "two men were heard at the inquiry". A thing is known to all
    readers if the documents that mention it have half of the sentences, or if it is like "the government". `said` are
    the words of each sentence, and `documents` has the number of its document.

    Examples
    --------
    >>> texts = ["A council of nine met in Brenn.", "The council voted.", "It rained.", "Hail fell.", "It froze."]
    >>> refers_back(texts, [*map(words, texts)], [0, 0, 1, 1, 2])
    [False, True, False, False, False]
    """
    pattern = _THING if anywhere else _FIRST_THING
    things = [{STEM_OF[thing] for thing in pattern.findall(text)} - _known_to_all() for text in texts]
    mentioned = {document: set[str]() for document in documents}
    before = []
    for own, spoken, document in zip(things, said, documents, strict=True):
        before.append(own & mentioned[document])
        mentioned[document].update(map(STEM_OF.__getitem__, spoken))
    sizes = Counter(documents)

    def is_rare(thing: str) -> bool:
        return 2 * sum(size for document, size in sizes.items() if thing in mentioned[document]) < len(texts)

    rare = {thing for thing in set().union(*before) if is_rare(thing)}
    return [not rare.isdisjoint(own) for own in before]


@cache
def _known_to_all() -> frozenset[str]:
    """Stems of things that need no introduction."""
    return frozenset(map(STEM_OF.__getitem__, word_lists("sentence-words")["known to all"]))


@cache
def _little() -> frozenset[str]:
    """Words that tell nothing by themselves, and their stems."""
    lists = word_lists("sentence-words")
    some = (lists[name] for name in ("prepositions", "starters", "subjects", "joints"))
    found = small_words().union(DATES, word_lists("leaning-words")["English said"], _FUNCTION_WORDS, *some)
    return found.union(map(STEM_OF.__getitem__, found))


_FUNCTION_WORDS = word_set(
    "a an as at be been by can did do does if in is it may might must no off or out over so some than through up while"
)


def stem(word: str) -> str:
    if word in SMALL_NUMBERS[2:]:  # "one" is seldom a number
        return str(SMALL_NUMBERS.index(word))
    if word in _ORDINALS:
        return f"{_ORDINALS.index(word) + 1}."
    return STEMS[word] if word.isascii() else word[:_STEM_LETTERS]


STEM_OF = Memory(stem)


def in_twos(tokens: Sequence[str]) -> list[str]:
    """Words, with Chinese and similar characters in pairs, because one character alone says little.

    Examples
    --------
    >>> in_twos(["in", "无", "人", "机", "2024"])
    ['in', '2024', '无人', '人机']
    """
    if _ONE_CHARACTER.search("".join(tokens)) is None:
        return [*tokens]
    single = [len(word) == 1 and _ONE_CHARACTER.match(word) is not None for word in tokens]
    pairs = [a + b for (a, one), (b, two) in pairwise(zip(tokens, single, strict=True)) if one and two]
    return [word for word, alone in zip(tokens, single, strict=True) if not alone] + pairs
