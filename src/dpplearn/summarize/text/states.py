"""Which sentences tell what counts, and which do not any more; there are rules for English alone.

What a meeting, a chat or mails agreed, what a paper did and found, what one must do by a law: such sentences gain where
the lines of a document begin with words that tell its kind. A state that a later document overtakes is told no more:
forecasts whose day has come, tolls that have risen, by the dates of documents.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import chain
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
_TO_COME = (
    r"\b(?:will|shall)\b(?! (?:not )?have\b)"
    r"|\b(?:is|are|was|were)\s+(?:(?:also|still|now)\s+)?"
    r"(?:expected|scheduled|due|set|likely|poised|forecast|about|planning|preparing|nearing)\b"
    r"|\b(?:plans?|hopes?|intends?|expects?)\s+to\b"
)
_COMES = re.compile(_TO_COME, re.IGNORECASE)
_COMING = re.compile(rf"{_TO_COME}|\bwould\b(?! (?:not )?have\b)", re.IGNORECASE)  # or was to come, by what was said
_SAID_ON = re.compile(rf"\b(?:said|told|(?<!be )(?:announced|reported|confirmed))(?: \w+){{0,3}}? (?:{'|'.join(DAYS)})\b", re.IGNORECASE)
_FOR = re.compile(  # the day that a forecast is for
    rf"\b(?:(next )?({'|'.join(DAYS)})|(tonight|this (?:afternoon|evening))|(tomorrow)|(this weekend))\b", re.IGNORECASE
)
Mask = npt.NDArray[np.bool_]
FEWEST_DOCUMENTS = 3  # of which one may leave behind what another tells, where they have no date
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
_TOLLS = {  # by what is counted: words right after the number, or some words before it
    what: (
        re.compile(rf"\b{_TOLL_NUMBER}{_NEAR}\s+(?:{after})\b", re.IGNORECASE),
        re.compile(
            rf"\b(?:{before})\b(?:\s+[\w'’-]+){{0,5}}?\s+{_TOLL_NUMBER}(?!\s*(?:hour|day|year|mile|km))", re.IGNORECASE
        ),
        re.compile(
            rf"\b(?:number of[\w ]{{0,30}} (?:{after})|number of (?:{after})|{before})\b[^.;]{{0,100}}?"
            rf"\b(?:to|at|of|as|reached|reaching|was|is|passed|passing|topped)(?: at least| about| nearly| more than| over)?"
            rf" {_TOLL_NUMBER}(?!\s*(?:hour|day|year|mile|km|percent|meters|metres))", re.IGNORECASE
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
_WHOM = re.compile(r" (?:other |more |of (?:the|its|their) )?(?!(?:people|persons?|dead|deaths|bodies|victims|others?|were|was|had|have|are|is|died|killed|injured|missing|and|of|in|on|at|after|when)\b)([a-z]+s|men|women|children)\b", re.IGNORECASE)
_AT_LEAST = re.compile(r"\b(?:at least|more than|over|nearly|almost|about|some) $", re.IGNORECASE)
_IN_PASSING = re.compile(r"\b(?:that|which|where|when|after|as)\b[^,;]*$")  # "the explosion that killed at least 36"
_TOLL_PARTS = (
    *("kill", "dead", "death", "died", "bodies", "fatal", "toll", "injur", "wound", "hurt"),
    *("missing", "unaccounted", "homeless", "evacuat", "displac"),
)
_DAY = ("day", "tonight", "tomorrow", "afternoon", "evening", "weekend")
_MAIN = r"^(?:(?!\b(?:who|which|whose|when|while|as|where|after|because|since|before|if)\b).){0,200}?"  # before a clause
_GOING_ON = re.compile(  # a state that does not last: "is searching", "were still missing", "continues to rise"
    rf"{_MAIN}\b(?:(?:is|are)(?: (?:now|also|currently|being|not|yet|widely|reportedly))*"
    r" (?:(?!according|during|nothing|anything|willing|lacking|amazing|interesting|surprising)[a-z]{2,}ing|reported missing)"
    r"|(?:is|are|was|were)(?: (?:still|also|not|yet))* (?:being|in a coma|in (?:critical|grave|serious|stable) condition"
    r"|on life support|trapped|at large|missing|unknown|unclear|uncertain|known"
    r"|(?:search|digg|fight|battl|try|struggl|wait|prepar|hunt|investigat|negotiat)ing)"
    r"|continues? to|still|looks? (?:un)?likely|faces? up to)\b",
    re.IGNORECASE,
)
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
    return {what: toll.number for what, toll in _tolls(text).items()}


class Toll(NamedTuple):
    """A number of victims, whom it counts ("" if nobody in particular), and how far "at least" lets it grow."""

    number: int
    counted: str = ""
    true_up_to: float = 1.0

    def is_corrected_by(self, other: Toll, last: bool) -> bool:
        """Whether another, later one of the same people says otherwise: a larger one, or any that is surely the last."""
        if self.number == other.number or (self.counted and other.counted and self.counted != other.counted):
            return False
        if self.number < other.number:
            return self.number * self.true_up_to < other.number
        return last and other.true_up_to == 1.0


def _tolls(text: str) -> dict[str, Toll]:
    """The largest toll of each kind in a sentence."""
    found: dict[str, Toll] = {}
    if not has(text, _TOLL_PARTS):  # most sentences
        return found
    for what, patterns in _TOLLS.items():
        for match in chain.from_iterable(pattern.finditer(text) for pattern in patterns):
            before, after = text[: match.start(1)], _WHOM.match(text, match.end(1))
            if not _MONTH.search(before):
                toll = Toll(_value(match[1]), after[1].lower() if after else "", _slack(before))
                found[what] = max(found.get(what, toll), toll)
    return found


def _slack(before: str) -> float:
    """How much larger the last number may be than one told after these words, for that not to be wrong."""
    if not _AT_LEAST.search(before):
        return 1.0
    return 2.0 if _IN_PASSING.search(before) else 1.25


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
    return _COMING.search(text) is not None


def forecast_day(text: str, told: datetime) -> datetime | None:
    """The last day for which a sentence that was told on another announces something; None where it names no day.

    Examples
    --------
    >>> friday = datetime(2024, 3, 15)
    >>> forecast_day("Results will be announced on Monday.", friday).day, forecast_day("It will rain.", friday)
    (18, None)
    """
    if not has(text, _DAY):
        return None
    named = _FOR.findall(_SAID_ON.sub("", text[ahead.start() :])) if (ahead := _COMING.search(text)) else []
    if not named:
        return None
    days = []
    for next_week, weekday, today, tomorrow, _ in named:
        name = weekday.lower() or "sunday"  # the weekend ends with it
        ahead = (DAYS.index(name) - told.weekday()) % 7 + 7 * bool(next_week)
        days.append(0 if today else 1 if tomorrow else ahead)
    return told + timedelta(max(days))


def passes(text: str) -> bool:
    """Whether it tells what is going on or still to come, so that the next day's news changes it.

    Examples
    --------
    >>> [passes(text) for text in ("Divers were searching the bay.", "Schools will open.", "It said it would pay.")]
    [True, True, False]
    """
    return _COMES.search(text) is not None or _GOING_ON.search(text) is not None


def passing(texts: Sequence[str], told: Sequence[datetime | None], documents: Sequence[int]) -> Mask:
    """Which sentences tell a state that other documents of the cluster have left behind.

    They say what was going on or still to come (`passes`), in a document of another day than the last one; of three or
    more documents without a date, only what was to come. Where half of the documents begin so, the matter itself is
    still to come, and nothing is left behind.

    Examples
    --------
    >>> days = [datetime(2024, 3, 14), datetime(2024, 3, 19)]
    >>> texts = ["A ferry sank.", "Divers were searching.", "The wreck was found."]
    >>> passing(texts, [days[0], *days], [0, 0, 1]).tolist()
    [False, True, False]
    """
    out = np.zeros(len(texts), np.bool_)
    latest = max((time.date() for time in told if time is not None), default=None)
    several = len(set(documents)) >= FEWEST_DOCUMENTS
    leads = {document: i for i, document in reversed([*enumerate(documents)])}
    for i, (text, time) in enumerate(zip(texts, told, strict=True)):
        past = several if time is None else time.date() != latest
        out[i] = past and (_COMES.search(text) is not None or (time is not None and passes(text)))
    return out if 2 * out[[*leads.values()]].sum() < len(leads) else np.zeros_like(out)


def overtaken(texts: Sequence[str], told: Sequence[datetime | None], documents: Sequence[int]) -> Mask:
    """Which sentences a later one corrects; `told` are the dates of their documents, which have these numbers.

    A forecast is overtaken when a later document is of the day it speaks of, or past it; a number of victims, when a
    later document tells a larger one of the same event, or begins with another one. Of documents without a date, the
    largest number of dead with which one begins is the last.

    Examples
    --------
    >>> first, last = datetime(2024, 3, 14), datetime(2024, 3, 19)
    >>> texts = ["Ten people died in the Brenn flood.", "The Brenn flood killed 14.", "Schools will open on Friday."]
    >>> overtaken(texts, [first, last, first], [0, 1, 2]).tolist()
    [True, False, True]
    """
    out, latest = np.zeros(len(texts), np.bool_), max((time.date() for time in told if time is not None), default=None)
    for i, (text, time) in enumerate(zip(texts, told, strict=True)):
        ahead = None if time is None or latest in (None, time.date()) else forecast_day(text, time)
        out[i] = ahead is not None and ahead.date() <= latest
    leads = {document: i for i, document in reversed([*enumerate(documents)])}
    counts = [(i, found, set(words(texts[i]))) for i in range(len(texts)) if (found := _tolls(texts[i]))]
    for i, own, said in counts:
        for j, others, also in counts:
            is_lead, undated = leads[documents[j]] == j, told[i] is None
            if len(said & also) < _ALIKE or documents[i] == documents[j] or not _is_later(told[i], told[j], is_lead):
                continue
            out[i] |= any(
                own[what].is_corrected_by(others[what], (is_lead or what == "missing") and not undated)
                for what in own.keys() & others.keys()
                if what == "dead" or not undated
            )
    return out


def _is_later(one: datetime | None, other: datetime | None, is_lead: bool) -> bool:
    """Whether the other document is later, or may be: two without a date are compared by how they begin."""
    if one is None or other is None:
        return one is other and is_lead
    return other.date() > one.date()


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
