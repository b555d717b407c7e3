"""Which sentences tell what counts, and which do not any more; there are rules for English alone.

What a meeting, a chat or mails agreed, what a paper did and found, what one must do by a law: such sentences gain where
the lines of a document begin with words that tell its kind. A state that a later document overtakes is told no more:
forecasts whose day has come, tolls that have risen, by the dates of documents.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dpplearn.summarize.text.words import words

LIFT = 0.6  # what is added to log q of a sentence that says what its document is read for
_WHEN = r"(?:[0-9]{1,2}\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|the end)"
_SAID = {
    "talk": re.compile(
        r"\b(?:agree[sd]?|decide[sd]?|resolved|vote[sd]?|elected|decision|actions?:|task:|from now on|"
        r"propos(?:e|al)|suggest|let's|we'll|I'll|I will|we (?:will|take|keep|go|do)|ok(?:ay)? so)\b"
        r"|\b(?:ok(?:ay)?|so|then)\b,? (?:it's|we (?!would|could|might|need|can))"
        rf"|\bby (?:\w+ )?{_WHEN}|^(?-i:[A-Z]\w+ (?:[A-Z]\w+ )?to [a-z])",
        re.IGNORECASE,
    ),
    "paper": re.compile(r"\bwe (?:\w+ )?(?:find|found|show|conclude|propose|present|estimate|measured|tested)\b|%"),
    "law": re.compile(r"\b(?:must|shall|may|liable|fines?|prohibited|imprisonment|into force)\b"),
}
_INTRODUCTION = re.compile(r"^\W*[0-9.]*\W*introduction\b", re.IGNORECASE | re.MULTILINE)
_HEADS = {  # how many of the words, at the head of a line, tell the kind
    "talk": (
        2,
        re.compile(
            r"^\W*[0-9]*\W*(minutes|protocol|present|attend(?:ees|ance)|in attendance|participants|apologies|agenda|"
            r"actions?|decisions?|(?:date of )?next meeting|any other business|aob)\b",
            re.IGNORECASE | re.MULTILINE,
        ),
    ),
    "paper": (
        2,
        re.compile(r"^\W*[0-9.]*\W*(abstract|summary|references|bibliography)\b", re.IGNORECASE | re.MULTILINE),
    ),
    "law": (
        3,
        re.compile(r"^\W*((?:§|(?i:art(?:icle|\.)|section|clause))\s?[0-9]+)\b(?! [a-z])", re.MULTILINE),
    ),
}

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_AHEAD = re.compile(  # what is still to come
    r"\b(?:will|shall|would)\b(?! (?:not )?have\b)"
    r"|\b(?:is|are|was|were)\s+(?:(?:also|still|now)\s+)?"
    r"(?:expected|scheduled|due|set|likely|poised|forecast|about|planning|preparing|nearing)\b"
    r"|\b(?:plans?|hopes?|intends?|expects?)\s+to\b",
    re.IGNORECASE,
)
_FOR = re.compile(  # the day that a forecast is for
    rf"\b(?:(next )?({'|'.join(DAYS)})|(tonight|this (?:afternoon|evening))|(tomorrow)|(this weekend))\b", re.IGNORECASE
)
SMALL_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_SCALE = {"million": 1_000_000, "thousand": 1_000}
_TOLL_NUMBER = (  # no part of another, no price, no year
    rf"(?<![\w.,$£€/-])(?<!in )(?!(?:19|20)\d\d\b)"
    rf"(\d{{1,3}}(?:,\d{{3}})+|\d+(?:\.\d+)? (?:million|thousand)|\d+|{'|'.join(SMALL_NUMBERS)})(?![\w%-]|[.,]\d)"
)
_NEAR = r"(?:\s+(?!and\b|or\b|but\b)[\w'’-]+){0,3}?"  # words between a number and what it counts
_TOLLS = {  # by what is counted: words right after the number, or some words before it
    what: (
        re.compile(rf"\b{_TOLL_NUMBER}{_NEAR}\s+(?:{after})\b", re.IGNORECASE),
        re.compile(
            rf"\b(?:{before})\b(?:\s+[\w'’-]+){{0,5}}?\s+{_TOLL_NUMBER}(?!\s*(?:hour|day|year|mile|km))", re.IGNORECASE
        ),
    )
    for what, after, before in (
        ("dead", "dead|deaths|died|killed|bodies|fatalities", "death toll|killed|killing|kills|toll"),
        ("hurt", "injured|wounded|hurt|injuries", "injured|injuring|wounded|wounding"),
        ("missing", "missing|unaccounted", "(?!)"),
        ("homeless", "homeless|evacuated|displaced", "(?!)"),
    )
}
_TOLL_PARTS = (
    *("kill", "dead", "death", "died", "bodies", "fatal", "toll", "injur", "wound", "hurt"),
    *("missing", "unaccounted", "homeless", "evacuat", "displac"),
)
_PASSING = ("coma", "condition", "life support", "hospital", "trapped", "at large", "missing")
_DAY = ("day", "tonight", "tomorrow", "afternoon", "evening", "weekend")
_PENDING = re.compile(  # a state that does not last
    r"\b(?:in a coma|in (?:critical|grave|serious|stable) condition|on life support|hospitali[sz]ed|trapped|at large"
    r"|(?:is|are|was|were|remains?|still) (?:still )?missing)\b",
    re.IGNORECASE,
)
_ENDED = re.compile(
    r"\b(?:died|dies|dead|death|buried|funeral|released|freed|rescued|found|captured|arrested|recovered)\b",
    re.IGNORECASE,
)
_CAPITALIZED = re.compile(r"(?<!^)\b[A-Z][\w’'-]+")
_ALIKE = 2  # words that the tolls of one event share at least


def has(text: str, parts: Sequence[str]) -> bool:
    """Whether a text has one of these parts, in any case: quicker than a pattern that nearly no sentence matches."""
    return any(map(text.lower().__contains__, parts))


def tolls(text: str) -> dict[str, int]:
    """How many were killed, hurt, missing or made homeless, as far as a sentence says.

    Examples
    --------
    >>> tolls("At least 80,000 people were killed and two were missing, officials said.")
    {'dead': 80000, 'missing': 2}
    """
    found: dict[str, int] = {}
    if not has(text, _TOLL_PARTS):  # most sentences
        return found
    for what, patterns in _TOLLS.items():
        if numbers := [_value(match[1]) for pattern in patterns for match in pattern.finditer(text)]:
            found[what] = max(numbers)
    return found


def _value(number: str) -> int:
    figure, _, scale = number.lower().replace(",", "").partition(" ")
    return SMALL_NUMBERS.index(figure) if figure in SMALL_NUMBERS else int(float(figure) * _SCALE.get(scale, 1))


def looks_ahead(text: str) -> bool:
    """Whether it says what is still to come.

    Examples
    --------
    >>> looks_ahead("The results will be announced."), looks_ahead("The results were announced.")
    (True, False)
    """
    return _AHEAD.search(text) is not None


def forecast_day(text: str, told: datetime) -> datetime | None:
    """The last day for which a sentence that was told on another announces something; None where it names no day.

    Examples
    --------
    >>> friday = datetime(2024, 3, 15)
    >>> forecast_day("Results will be announced on Monday.", friday).day, forecast_day("It will rain.", friday)
    (18, None)
    """
    named = _FOR.findall(text) if has(text, _DAY) else []
    if not named or not looks_ahead(text):
        return None
    days = []
    for next_week, weekday, today, tomorrow, _ in named:
        name = weekday.lower() or "sunday"  # the weekend ends with it
        ahead = (DAYS.index(name) - told.weekday()) % 7 + 7 * bool(next_week)
        days.append(0 if today else 1 if tomorrow else ahead)
    return told + timedelta(max(days))


def overtaken(texts: Sequence[str], told: Sequence[datetime | None]) -> npt.NDArray[np.bool_]:
    """Which sentences a later one overtakes; `told` are the dates of their documents.

    A forecast is overtaken when a later document is of the day it speaks of, or past it; a number of victims, when a
    later document tells a larger one of the same event; a number of the missing, when it tells another one; that
    somebody is in a coma or missing, when it tells how that ended.

    Examples
    --------
    >>> first, last = datetime(2024, 3, 14), datetime(2024, 3, 19)
    >>> texts = ["Ten people died in the Brenn flood.", "The Brenn flood killed 14.", "Schools will open on Friday."]
    >>> overtaken(texts, [first, last, first]).tolist()
    [True, False, True]
    """
    days = [None if time is None else time.date() for time in told]
    latest = max((day for day in days if day is not None), default=None)
    out = np.zeros(len(texts), np.bool_)
    if latest is None or days.count(latest) + days.count(None) == len(days):
        return out
    dated = [(i, text, time) for i, (text, time) in enumerate(zip(texts, told, strict=True)) if time is not None]
    for i, text, time in dated:
        ahead = forecast_day(text, time)
        out[i] = ahead is not None and ahead.date() <= latest and time.date() < latest
    pending = [one for one in dated if has(one[1], _PASSING) and _PENDING.search(one[1])]
    ended = [one for one in dated if _ENDED.search(one[1])] if pending else []
    ends = [(time.date(), frozenset(_CAPITALIZED.findall(text))) for _, text, time in ended]
    for i, text, time in pending:
        here = frozenset(_CAPITALIZED.findall(text))
        out[i] |= any(day > time.date() and not here.isdisjoint(names) for day, names in ends)
    counts = [(i, time.date(), found, set(words(text))) for i, text, time in dated if (found := tolls(text))]
    for i, day, own, said in counts:
        for _, later, others, also in counts:
            if later > day and len(said & also) >= _ALIKE:
                out[i] |= any(_changed(what, n, others.get(what, n)) for what, n in own.items())
    return out


def _changed(what: str, before: int, after: int) -> bool:
    return after != before if what == "missing" else after > before


class Kind(NamedTuple):
    """A kind of document, what its sentences say that it is read for, and where the introduction of a paper begins."""

    name: str
    says: re.Pattern[str]
    introduction: int = 0


def text_kind(text: str, talk: bool = False) -> Kind | None:
    """What kind of document it is, "talk", "paper" or "law", if it is of one.

    Examples
    --------
    >>> text_kind("Minutes of 4 March\\nPresent: Ann, Bo\\nIt rained.").name, text_kind("The minutes are present.")
    ('talk', None)
    """
    for kind, (least, head) in _HEADS.items():
        if (talk and kind == "talk") or len({found.lower() for found in head.findall(text)}) >= least:
            begins = _INTRODUCTION.search(text) if kind == "paper" else None
            return Kind(kind, _SAID[kind], begins.start() if begins else 0)
    return None
