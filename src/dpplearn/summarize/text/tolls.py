"""Reads numbers of victims in English sentences: how many, of whom, and whether a later number corrects them."""

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
_TOLL_NUMBER = (  # no part of another, no price, no year
    rf"(?<![\w.,$£€/-])(?<!in )(?!(?:19|20)\d\d\b)"
    rf"(\d{{1,3}}(?:,\d{{3}})+|\d+(?:\.\d+)? (?:million|thousand)|\d+|{'|'.join(SMALL_NUMBERS)})(?![\w%-]|[.,]\d)"
)
_NEAR = r"(?:\s+(?!and\b|or\b|but\b|that\b|which\b|who\b)[\w'’-]+){0,3}?"  # words between a number and what it counts
_MEASURES = r"\s*(?:hour|day|year|mile|km|percent|met(?:er|re)s)"
_GUESS = r"(?:at least|more than|over|nearly|almost|about|some)"
_TOLLS = {  # by what is counted: words right after the number, or some words before it
    what: (
        re.compile(rf"\b{_TOLL_NUMBER}{_NEAR}\s+(?:{after})\b", re.IGNORECASE),
        re.compile(rf"\b(?:{before})\b(?:\s+[\w'’-]+){{0,5}}?\s+{_TOLL_NUMBER}(?!{_MEASURES})", re.IGNORECASE),
        re.compile(
            rf"\b(?:number of(?: [\w ]{{0,30}})? (?:{after})|{before})\b[^.;]{{0,100}}?"
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
_MONTH = re.compile(r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? $")  # "March 3" is no toll
_WHOM = re.compile(  # "hostages" in "three hostages were killed"; nobody in particular in "three people died"
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
    """A number of victims, whom it counts ("" for people in general), and how far "at least" lets it grow."""

    number: int
    counted: str = ""
    true_up_to: float = 1.0

    def is_corrected_by(self, other: Toll, last: bool) -> bool:
        """Whether a later number for the same people is larger, or differs and is surely the last."""
        if self.number == other.number or (self.counted and other.counted and self.counted != other.counted):
            return False
        if self.number < other.number:
            return self.number * self.true_up_to < other.number
        return last and other.true_up_to == 1.0


@lru_cache(maxsize=10_000)  # several rules ask of the same sentence
def tolls(text: str) -> dict[str, Toll]:
    """The largest number of those killed, hurt, missing or made homeless that a sentence tells.

    Examples
    --------
    >>> tolls("At least 80,000 people were killed and two were missing, officials said.")["dead"].number
    80000
    """
    found: dict[str, Toll] = {}
    if not any(map(text.lower().__contains__, _TOLL_PARTS)):  # quicker than patterns that few sentences match
        return found
    for what, patterns in _TOLLS.items():
        for match in chain.from_iterable(pattern.finditer(text) for pattern in patterns):
            before, after = text[: match.start(1)], _WHOM.match(text, match.end(1))
            if not _MONTH.search(before):
                toll = Toll(_value(match[1]), after[1].lower() if after else "", _slack(before))
                found[what] = max(found.get(what, toll), toll)
    return found


def _slack(before: str) -> float:
    """How many times larger the last number may be before a number after these words becomes wrong."""
    if not _AT_LEAST.search(before):
        return 1.0
    return 2.0 if _IN_PASSING.search(before) else 1.25


def _value(number: str) -> int:
    figure, _, scale = number.lower().replace(",", "").partition(" ")
    return SMALL_NUMBERS.index(figure) if figure in SMALL_NUMBERS else int(float(figure) * _SCALE.get(scale, 1))
