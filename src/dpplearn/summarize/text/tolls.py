"""Finds numbers of victims in English sentences, and says whether a later number corrects an earlier one."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

SMALL_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_SCALE = {"million": 1_000_000, "thousand": 1_000}
_NO_PEOPLE = (  # "dead trout" after "2,000", but not "fish farmers" after "two"
    r"(?: of(?: the| its| their)?)?(?:\s+(?!(?:people|men|women|and|or|but|that|which|who|by|in|on|as|when)\b|\w+ing\b)"
    r"[\w'’-]+){0,2}?\s+(?:fish|trout|salmon|whales|dolphins|seals|birds|swans|geese|ducks|hens|chickens|poultry|cattle"
    r"|cows|calves|sheep|lambs|goats|pigs|horses|elephants|deer|dogs|cats|animals|livestock|bees|trees|homes|houses"
    r"|buildings|cars|vehicles|boats|ships|planes)\b(?! \w+(?:ers|men)\b)"
)
_TOLL_NUMBER = (  # not a part of another number, a price or a year
    rf"(?<![\w.,$£€/-])(?<!in )(?!(?:19|20)\d\d\b)"
    rf"(\d{{1,3}}(?:,\d{{3}})+|\d+(?:\.\d+)? (?:million|thousand)|\d+|{'|'.join(SMALL_NUMBERS)})"
    rf"(?![\w%-]|[.,]\d|{_NO_PEOPLE})"
)
_NEAR = r"(?:\s+(?!and\b|or\b|but\b|that\b|which\b|who\b)[\w'’-]+){0,3}?"  # words between a number and what it counts
_MEASURES = r"\s*(?:hour|day|year|mile|km|percent|met(?:er|re)s)"
_GUESS = r"(?:at least|more than|over|nearly|almost|about|some)"
_TOLLS = {  # what happened to victims: patterns for words right after their number, and for words some way before it
    what: (
        re.compile(rf"\b{_TOLL_NUMBER}{_NEAR}\s+(?:{after})\b", re.IGNORECASE),
        re.compile(rf"\b(?:{before})\b(?:\s+[\w'’-]+){{0,5}}?\s+{_TOLL_NUMBER}(?!{_MEASURES})", re.IGNORECASE),
        re.compile(
            rf"\b(?:number of(?!{_NO_PEOPLE})(?: [\w ]{{0,30}})? (?:{after})|{before})\b[^.;]{{0,100}}?"
            rf"\b(?:to|at|of|as|reach(?:ed|ing)|was|is|pass(?:ed|ing)|topped)(?: {_GUESS})? "
            rf"{_TOLL_NUMBER}(?!{_MEASURES})",
            re.IGNORECASE,
        ),
    )
    for what, after, before in (
        ("dead", "dead|deaths|died|killed|bodies|fatalities", "death toll|killed|killing|kills|toll"),
        ("hurt", "injured|wounded|hurt|injuries", "injured|injuring|wounded|wounding"),
        ("missing", "missing|unaccounted", "(?!)"),
        ("homeless", "homeless|evacuated|displaced", "(?!)"),
    )
}
_MONTH = re.compile(r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? $")  # "March 3" counts nobody
_WHOM = re.compile(  # "hostages" in "three hostages were killed", nothing in "three people died"
    r" (?:other |more |of (?:the|its|their) )?"
    r"(?!(?:people|persons|deaths|bodies|victims|others|was|has|is)\b)([a-z]+s|men|women|children)\b",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(rf"\b{_GUESS} $", re.IGNORECASE)
_IN_PASSING = re.compile(r"\b(?:that|which|where|when|after|as)\b[^,;]*$")  # "the explosion that killed at least 36"
_TOLL_PARTS = (
    *("kill", "dead", "death", "died", "bodies", "fatal", "toll", "injur", "wound", "hurt"),
    *("missing", "unaccounted", "homeless", "evacuat", "displac"),
)


class Toll(NamedTuple):
    """A number of victims, and who they are ("" for people in general).

    After "at least" and the like, the number stays right if there are up to `true_up_to` times as many.
    """

    number: int
    counted: str = ""
    true_up_to: float = 1.0

    def is_corrected_by(self, other: Toll, final: bool) -> bool:
        """Whether a later number is for the same people, and is larger or is a different and `final` number."""
        if self.number == other.number or (self.counted and other.counted and self.counted != other.counted):
            return False
        if self.number < other.number:
            return self.number * self.true_up_to < other.number
        return final and other.true_up_to == 1.0


@lru_cache(maxsize=10_000)  # several rules need the tolls of the same sentence
def tolls(text: str) -> dict[str, Toll]:
    """The largest numbers of dead, hurt, missing and homeless people that a sentence gives.

    Examples
    --------
    >>> tolls("At least 80,000 people were killed and two were missing, officials said.")["dead"].number
    80000
    """
    largest: dict[str, Toll] = {}
    if not any(map(text.lower().__contains__, _TOLL_PARTS)):  # quicker than the patterns, which few sentences match
        return largest
    for fate, patterns in _TOLLS.items():
        for match in chain.from_iterable(pattern.finditer(text) for pattern in patterns):
            before, after = text[: match.start(1)], _WHOM.match(text, match.end(1))
            if not _MONTH.search(before):
                toll = Toll(_value(match[1]), after[1].lower() if after else "", _slack(before))
                largest[fate] = max(largest.get(fate, toll), toll)
    return largest


def _slack(before: str) -> float:
    """How many times as large the last number may be before the number after these words is wrong."""
    if not _AT_LEAST.search(before):
        return 1.0
    return 2.0 if _IN_PASSING.search(before) else 1.25


def _value(number: str) -> int:
    figure, _, scale = number.lower().replace(",", "").partition(" ")
    return SMALL_NUMBERS.index(figure) if figure in SMALL_NUMBERS else int(float(figure) * _SCALE.get(scale, 1))
