"""Compares what sentences tell, by their words.

It says whether two sentences tell the same, whether one says all that another says, and whether a sentence speaks of
"the council" as if the reader knew it. English words are compared by their stems, others by their first letters. Small
words, days, months and the source of a statement do not count. A word counts more if fewer sentences have it.
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

NEARLY_ALL_SHARED = 0.75  # two sentences that share this much of the one that tells less tell the same
MUCH_SHARED = (0.5, 0.25)  # so do two that share this much of it, and this much of the other one
MOST_SHARED = 0.6  # a sentence that has this much of another one, and its names and figures, says it
FEWEST_SHARED = 3  # two sentences that share fewer words do not tell the same
_STEM_LETTERS = 6  # a word without a stem is compared by its first letters, so many
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_REPORTS = "says?|said|reports|reported|announced|confirmed|claimed|insists?"
_WHO_SAYS = re.compile(  # the source of a statement, before or after it
    rf"^[^,;]{{3,80}}? (?:{_REPORTS}|told [\w ]{{2,30}}?)(?: on \w+day)? that |, (?:{_REPORTS}) [^,;]{{3,80}}$"
    rf"|, [^,;]{{3,80}} (?:{_REPORTS})(?: on \w+day)?\.?$"
)
_ONE_CHARACTER = re.compile(f"[{SINGLE}]")
_NAME_LIKE = re.compile(r"(?<=[\w,;:)’'] )[^\W\d_a-zß-öø-ÿ][\w’'-]*")  # inside a sentence
_FIRST_THING = re.compile(  # "law" in "On Monday, the old law was": the noun before what may be its verb
    r"^(?:[A-Z][\w ]{2,30}, )?[Tt]he (?:[a-z][a-z-]* ){0,2}?([a-z-]+) "
    r"(?:is|was|were|are|has|have|had|will|would|could|can|may|said|[a-z]+ed|[a-z]+s)\b"
)
_THING = re.compile(  # "hearing" in "accused in the hearing.", but nothing in "the use of force"
    r"\b[Tt]he (?:[a-z][a-z-]* ){0,2}?([a-z-]+)(?:(?= )(?! (?:of|that|who|which|between|in|on|to|for) )|(?=[.,;]))"
)


class Matter(NamedTuple):
    """What a sentence tells: the stems of its words, its figures and names, and which kinds of victims it counts."""

    stems: frozenset[str]
    figures: frozenset[str]
    names: frozenset[str]
    toll: frozenset[str]


def matter(text: str) -> Matter:
    """What a sentence tells, without small words and the source of a statement.

    Examples
    --------
    >>> sorted(matter("The mayor of Brenn said on Monday that two bridges were closed.").stems)
    ['2', 'bridg', 'close']
    """
    stems = frozenset(STEM_OF[word] for word in in_twos(words(_WHO_SAYS.sub("", text))) if word not in _small_words())
    names = frozenset(STEM_OF[word] for name in _NAME_LIKE.findall(text) for word in words(name)) - _small_words()
    return Matter(stems, frozenset(stem for stem in stems if stem[0].isdigit()), names, frozenset(tolls(text)))


class Matters:
    """What each sentence of a cluster tells, and how much each word of it counts."""

    def __init__(self, texts: Sequence[str], token_lists: Iterable[Sequence[str]] | None = None) -> None:
        """Take the sentences, and their words if they have been split."""
        self.texts, self.cached = texts, dict[int, Matter]()
        token_lists = map(words, texts) if token_lists is None else token_lists
        stems = ({STEM_OF[word] for word in in_twos(tokens)} for tokens in token_lists)
        self.count = Counter(chain.from_iterable(stems))

    def __getitem__(self, i: int) -> Matter:
        if i not in self.cached:
            self.cached[i] = matter(self.texts[i])
        return self.cached[i]

    def weight(self, stems: Iterable[str]) -> float:
        """The sum of the weights of these stems."""
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
        >>> matters = Matters(texts)
        >>> matters.repeats(0, 1), matters.repeats(0, 2)
        (True, False)
        """
        a, b = self[i], self[j]
        shared = a.stems & b.stems
        differ = a.figures - b.figures and b.figures - a.figures and a.toll.isdisjoint(b.toll)
        if len(shared) < FEWEST_SHARED or differ:
            return False
        both, (less, more) = self.weight(shared), sorted((self.size(i), self.size(j)))
        return both >= NEARLY_ALL_SHARED * less or (both >= MUCH_SHARED[0] * less and both >= MUCH_SHARED[1] * more)

    def says(self, j: int, i: int) -> bool:
        """Whether sentence j has most of what sentence i tells, and all its names and figures.

        False if sentence i tells nothing.
        """
        speaker, content = self[j], self[i]
        if not (content.figures <= speaker.figures and content.names <= speaker.names | speaker.stems):
            return False
        return 0.0 < MOST_SHARED * self.size(i) <= self.weight(content.stems & speaker.stems)


def refers_back(
    texts: Sequence[str], token_lists: Sequence[Sequence[str]], documents: Sequence[int], anywhere: bool = False
) -> list[bool]:
    """Whether each English sentence begins with a thing, "the council", that its document mentions before.

    `anywhere` also counts things inside the sentence: "two men were heard at the inquiry". Readers know things like
    "the government", and things in documents that have half of all sentences. `token_lists` has the words of each
    sentence, and `documents` the number of its document.

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
    for mentions, tokens, document in zip(things, token_lists, documents, strict=True):
        before.append(mentions & mentioned[document])
        mentioned[document].update(map(STEM_OF.__getitem__, tokens))
    sizes = Counter(documents)

    def is_rare(thing: str) -> bool:
        return 2 * sum(size for document, size in sizes.items() if thing in mentioned[document]) < len(texts)

    rare = {thing for thing in set().union(*before) if is_rare(thing)}
    return [not rare.isdisjoint(mentions) for mentions in before]


@cache
def _known_to_all() -> frozenset[str]:
    """Stems of things that every reader knows, such as "the government"."""
    return frozenset(map(STEM_OF.__getitem__, word_lists("sentence-words")["known to all"]))


@cache
def _small_words() -> frozenset[str]:
    """Small words, which tell nothing by themselves, and their stems."""
    lists = word_lists("sentence-words")
    small_lists = (lists[name] for name in ("prepositions", "starters", "subjects", "joints"))
    small = small_words().union(DATES, word_lists("leaning-words")["English said"], _FUNCTION_WORDS, *small_lists)
    return small.union(map(STEM_OF.__getitem__, small))


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
    """The words, with pairs of neighbours instead of single Chinese and similar characters, which say little alone.

    Examples
    --------
    >>> in_twos(["in", "无", "人", "机", "2024"])
    ['in', '2024', '无人', '人机']
    """
    if _ONE_CHARACTER.search("".join(tokens)) is None:
        return [*tokens]
    single = [len(word) == 1 and _ONE_CHARACTER.match(word) is not None for word in tokens]
    pairs = [a + b for (a, x), (b, y) in pairwise(zip(tokens, single, strict=True)) if x and y]
    return [word for word, is_single in zip(tokens, single, strict=True) if not is_single] + pairs
