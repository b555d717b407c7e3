"""Finds sentences that later news leaves behind: what was still to come, and numbers that have changed.

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
    r"|\b(?:plans?|hopes?|intends?|expects?|continues?)\s+to\b|\blooks?\s+(?:un)?likely\b|\bfaces?\s+up\s+to\b"
)
_COMES = re.compile(_TO_COME, re.IGNORECASE)
_COMING = re.compile(rf"{_TO_COME}|\bwould\b(?! (?:not )?have\b)", re.IGNORECASE)  # or was to come, by what was said
_UNSETTLED = re.compile(  # states of people that do not last
    r"\b(?:is|are|was|were|remains?)(?:\s(?:still|also|now|reported))*\s(?:in a coma|on life support|at large|trapped"
    r"|in (?:critical|grave|serious|stable) condition)\b",
    re.IGNORECASE,
)
Mask: TypeAlias = npt.NDArray[np.bool_]
FEWEST_DOCUMENTS = 3  # of which one may leave behind what another tells, where they have no date
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
    """Whether a sentence tells what is still to come or how people are, so that the next day's news may change it.

    Examples
    --------
    >>> [passes(text) for text in ("She is in a coma.", "Schools will open.", "It said it would pay.")]
    [True, True, False]
    """
    return _COMES.search(text) is not None or _UNSETTLED.search(text) is not None


def passing(texts: Sequence[str], times: Sequence[datetime | None], documents: Sequence[int]) -> Mask:
    """Which sentences announce what later documents may have told.

    Such a sentence says what was still to come (`passes`), and a document of a later day follows. In three or more
    documents without dates, every announcement counts as past, unless half of the documents begin with one: then the
    event itself is still to come.

    Examples
    --------
    >>> days = [datetime(2024, 3, 14), datetime(2024, 3, 19)]
    >>> passing(["Divers will search.", "The wreck was found."], days, [0, 1]).tolist()
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
