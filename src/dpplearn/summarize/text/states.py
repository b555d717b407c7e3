"""Sentences that later news leaves behind: what was going on or still to come, and numbers that have changed.

There are rules for English alone. The dates of documents tell which is later.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dpplearn.summarize.text.tolls import tolls
from dpplearn.summarize.text.words import words

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NEWS_DAYS = frozenset([*DAYS, "today", "yesterday", "tonight"])  # what nearly every news story names
_TO_COME = (
    r"\b(?:will|shall)\b(?! (?:not )?have\b)"
    r"|\b(?:is|are|was|were)\s+(?:(?:also|still|now)\s+)?"
    r"(?:expected|scheduled|due|set|likely|poised|forecast|about|planning|preparing|nearing)\b"
    r"|\b(?:plans?|hopes?|intends?|expects?)\s+to\b"
)
_COMES = re.compile(_TO_COME, re.IGNORECASE)
_COMING = re.compile(rf"{_TO_COME}|\bwould\b(?! (?:not )?have\b)", re.IGNORECASE)  # or was to come, by what was said
Mask: TypeAlias = npt.NDArray[np.bool_]
FEWEST_DOCUMENTS = 3  # of which one may leave behind what another tells, where they have no date
_CLAUSES = "who|which|whose|when|while|as|where|after|because|since|before|if"  # what other clauses begin with
_GOING_ON = re.compile(  # a state that does not last: "is searching", "were still missing", "continues to rise"
    rf"^(?:(?!\b(?:{_CLAUSES})\b).){{0,200}}?\b"
    r"(?:(?:is|are)(?: (?:now|also|currently|being|not|yet|widely|reportedly))* (?:reported missing"
    r"|(?!according|during|nothing|anything|willing|lacking|amazing|interesting|surprising)[a-z]{2,}ing)"
    r"|(?:is|are|was|were)(?: (?:still|also|not|yet))* (?:being|in a coma|on life support"
    r"|in (?:critical|grave|serious|stable) condition|trapped|at large|missing|unknown|unclear|uncertain|known"
    r"|(?:search|digg|fight|battl|try|struggl|wait|prepar|hunt|investigat|negotiat)ing)"
    r"|continues? to|still|looks? (?:un)?likely|faces? up to)\b",
    re.IGNORECASE,
)
_ALIKE = 2  # words that the tolls of one event share at least


def looks_ahead(text: str) -> bool:
    """Whether a sentence says what is still to come.

    Examples
    --------
    >>> looks_ahead("The results will be announced."), looks_ahead("The results were announced.")
    (True, False)
    """
    return _COMING.search(text) is not None


def passes(text: str) -> bool:
    """Whether a sentence tells what is going on or still to come, so that the next day's news may change it.

    Examples
    --------
    >>> [passes(text) for text in ("Divers were searching the bay.", "Schools will open.", "It said it would pay.")]
    [True, True, False]
    """
    return _COMES.search(text) is not None or _GOING_ON.search(text) is not None


def passing(texts: Sequence[str], times: Sequence[datetime | None], documents: Sequence[int]) -> Mask:
    """Which sentences tell a state that later documents have left behind.

    Such a sentence says what was going on or still to come (`passes`), and a document of a later day follows. In three
    or more documents without dates, every announcement counts as past, unless half of the documents begin with one:
    then the event itself is still to come.

    Examples
    --------
    >>> days = [datetime(2024, 3, 14), datetime(2024, 3, 19)]
    >>> passing(["Divers were searching.", "The wreck was found."], days, [0, 1]).tolist()
    [True, False]
    """
    latest = max((time.date() for time in times if time is not None), default=None)
    undated = np.array([time is None for time in times])
    out = np.zeros(len(texts), np.bool_)
    for i, (text, time) in enumerate(zip(texts, times, strict=True)):
        out[i] = _COMES.search(text) is not None if time is None else time.date() != latest and passes(text)
    leads = np.array([i for i in first_sentences(documents).values() if undated[i]], np.int64)
    if leads.size < FEWEST_DOCUMENTS or 2 * out[leads].sum() >= leads.size:
        out &= ~undated
    return out


def first_sentences(documents: Sequence[int]) -> dict[int, int]:
    """The number of the first sentence of each document."""
    return {document: i for i, document in reversed([*enumerate(documents)])}


def corrected(texts: Sequence[str], times: Sequence[datetime | None], documents: Sequence[int]) -> Mask:
    """Which sentences tell a number of victims that a later document corrects.

    A later document tells a larger number for the same event, or begins with another number. Among documents without
    dates, the largest number of dead with which a document begins is the last. `times` and `documents` are the date and
    the number of the document of each sentence.

    Examples
    --------
    >>> days = [datetime(2024, 3, 14), datetime(2024, 3, 19)]
    >>> corrected(["Ten people died in the Brenn flood.", "The Brenn flood killed 14."], days, [0, 1]).tolist()
    [True, False]
    """
    out, leads = np.zeros(len(texts), np.bool_), {*first_sentences(documents).values()}
    counts = [(i, found, set(words(texts[i]))) for i in range(len(texts)) if (found := tolls(texts[i]))]
    undated = [one for one in counts if one[0] in leads and times[one[0]] is None and "dead" in one[1]]
    largest = sorted(undated, key=lambda one: one[1]["dead"].number)[-1:]
    for i, own, said in counts:
        for j, others, also in largest if times[i] is None else counts:
            if documents[i] == documents[j] or not _is_later(times[i], times[j]) or len(said & also) < _ALIKE:
                continue
            for what in own.keys() & others.keys() if times[i] is not None else own.keys() & {"dead"}:
                out[i] |= own[what].is_corrected_by(others[what], j in leads or what == "missing")
    return out


def _is_later(one: datetime | None, other: datetime | None) -> bool:
    """Whether the other document is later, or may be because neither has a date."""
    return one is other if one is None or other is None else other.date() > one.date()
