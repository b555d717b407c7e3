"""Finds sentences that later news makes out of date: announcements, passing states, old numbers of victims.

The rules are for English only. The dates of the documents say which document is later.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dpplearn.summarize.text.tolls import tolls
from dpplearn.summarize.text.words import word_lists, words

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NEWS_DAYS = frozenset([*DAYS, "today", "yesterday", "tonight"])  # nearly every news story has one of these words
_TO_COME = (
    r"\b(?:will|shall)\b(?! (?:not )?have\b)"
    r"|\b(?:is|are|was|were)\s+(?:(?:also|still|now)\s+)?"
    r"(?:expected|scheduled|due|set|likely|poised|forecast|about|planning|preparing|nearing)\b"
    r"|\b(?:plans?|hopes?|intends?|expects?|continues?)\s+to\b|\blooks?\s+(?:un)?likely\b|\bfaces?\s+up\s+to\b"
)
_ANNOUNCES = re.compile(_TO_COME, re.IGNORECASE)
_LOOKS_AHEAD = re.compile(rf"{_TO_COME}|\bwould\b(?! (?:not )?have\b)", re.IGNORECASE)  # also "said it would"
_UNSETTLED = re.compile(  # states of people that do not last
    r"\b(?:is|are|was|were|remains?)(?:\s(?:still|also|now|reported))*\s(?:in a coma|on life support|at large|trapped"
    r"|in (?:critical|grave|serious|stable) condition)\b",
    re.IGNORECASE,
)
Mask: TypeAlias = npt.NDArray[np.bool_]
FEWEST_DOCUMENTS = 3  # in fewer documents without a date, no announcement counts as past
_SHORT = 9  # words: a sentence of fewer seldom names its event, which the first sentence of its document does
_FEWEST_COMMON_WORDS = 2  # sentences that share fewer words count the victims of different events


def looks_ahead(text: str) -> bool:
    """Whether a sentence says what is still to come.

    Examples
    --------
    >>> looks_ahead("The results will be announced."), looks_ahead("The results were announced.")
    (True, False)
    """
    return _LOOKS_AHEAD.search(text) is not None


def passes(text: str) -> bool:
    """Whether a sentence says what is still to come or how people are, so that the next day may change it.

    Examples
    --------
    >>> [passes(text) for text in ("She is in a coma.", "Schools will open.", "It said it would pay.")]
    [True, True, False]
    """
    return _ANNOUNCES.search(text) is not None or _UNSETTLED.search(text) is not None


def passing(texts: Sequence[str], times: Sequence[datetime | None], documents: Sequence[int]) -> Mask:
    """Which sentences say what was still to come or how people were (`passes`), and are out of date.

    Such a sentence is out of date if its document has a date and another document is of a later day. In three or more
    documents without dates, every announcement is out of date, unless half of them begin with one: then the event
    itself is still to come.

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
        out[i] = _ANNOUNCES.search(text) is not None if time is None else time.date() != latest and passes(text)
    leads = np.array([i for i in first_sentences(documents).values() if undated[i]], np.int64)
    if leads.size < FEWEST_DOCUMENTS or 2 * out[leads].sum() >= leads.size:
        out &= ~undated
    return out


def first_sentences(documents: Sequence[int]) -> dict[int, int]:
    """The number of the first sentence of each document."""
    return {document: i for i, document in reversed([*enumerate(documents)])}


def corrected(texts: Sequence[str], times: Sequence[datetime | None], documents: Sequence[int]) -> Mask:
    """Which sentences give a number of victims that a later document corrects.

    A document corrects it by a larger number for the same event, or by another number in its first sentence. Among
    documents without dates, the largest number of dead in a first sentence counts as the last. `times` and `documents`
    have the date and the number of the document of each sentence.

    Examples
    --------
    >>> days = [datetime(2024, 3, 14), datetime(2024, 3, 19)]
    >>> corrected(["Ten people died in the Brenn flood.", "The Brenn flood killed 14."], days, [0, 1]).tolist()
    [True, False]
    """
    first, small = first_sentences(documents), word_lists("small-words")["English"]
    out, leads = np.zeros(len(texts), np.bool_), {*first.values()}
    counts = [(i, victims, set(words(texts[i]))) for i in range(len(texts)) if (victims := tolls(texts[i]))]
    for i, _, tokens in counts:
        if len(tokens) < _SHORT:
            tokens |= {*words(texts[first[documents[i]]])} - small
    undated = [count for count in counts if count[0] in leads and times[count[0]] is None and "dead" in count[1]]
    largest = sorted(undated, key=lambda count: count[1]["dead"].number)[-1:]
    for i, victims, tokens in counts:
        for j, later_victims, later_tokens in largest if times[i] is None else counts:
            is_later = documents[i] != documents[j] and _may_be_later(times[i], times[j])
            if not is_later or len(tokens & later_tokens) < _FEWEST_COMMON_WORDS:
                continue
            for fate in victims.keys() & later_victims.keys() if times[i] is not None else victims.keys() & {"dead"}:
                out[i] |= victims[fate].is_corrected_by(later_victims[fate], j in leads or fate == "missing")
    return out


def _may_be_later(time: datetime | None, other: datetime | None) -> bool:
    """Whether the other time is of a later day; two unknown times may be."""
    return time is other if time is None or other is None else other.date() > time.date()
