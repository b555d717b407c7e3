"""When something was written: a date as documents, mails and agencies write it, as a time to sort by."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cache, lru_cache

from dpplearn.summarize.text.words import word_lists, words

_LONGEST_DATE = 80  # characters of a text that is a date
_MORE = 8  # words beside day, month and year: weekday, time, edition
_AGENCY_NUMBER = re.compile(r"[A-Z]{2,4}(?:_[A-Z]{3}_)?_?((?:19|20)[0-9]{6})(?:[._-]|$)|[A-Z]{2,4}([0-9]{6})-[0-9]")
_NUMERIC = re.compile(r"(?<![0-9])([0-9]{1,4})([./-])([0-9]{1,2})\2([0-9]{2,4})(?![0-9])")
_TIME_OF_DAY = re.compile(r"(?<![0-9])([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?![0-9])(?:\s*([AaPp])\.?[Mm])?")


@lru_cache(maxsize=4096)  # of the same documents, each time that their sentences are put in order
def parse_date(text: str | None) -> datetime | None:
    """The time that a date says, without a zone where it has none; None where it says none, or no day of a year.

    Numbers alone are read as year-month-day, day.month.year, and, as American agencies write it, month/day/year, where
    the first can be a month.

    Examples
    --------
    >>> for text in ("2004-10-30T09:15", "Saturday, January 8, 2005", "8. ledna 2005", "13/1/2005", "1/8/2005 9:15 PM"):
    ...     print(parse_date(text))
    2004-10-30 09:15:00
    2005-01-08 00:00:00
    2005-01-08 00:00:00
    2005-01-13 00:00:00
    2005-01-08 21:15:00
    >>> parse_date("in May"), parse_date("99/99/2005")
    (None, None)
    """
    text = (text or "").strip()
    if not text or len(text) > _LONGEST_DATE:
        return None
    text = "".join(str(int(c)) if c.isdecimal() else c for c in text)  # figures of any script
    with suppress(ValueError, OverflowError):
        return _plain(datetime.fromisoformat(text))
    with suppress(ValueError, OverflowError, TypeError, IndexError):
        return _plain(parsedate_to_datetime(text))
    day = _day_in_figures(text) or _day_in_words(text)
    return None if day is None else day + _clock(text)


def agency_date(name: str) -> datetime | None:
    """The day in the number that a news agency gave a document.

    Examples
    --------
    >>> agency_date("APW19981016.0240"), agency_date("AP890321-0012"), agency_date("report.txt")
    (datetime.datetime(1998, 10, 16, 0, 0), datetime.datetime(1989, 3, 21, 0, 0), None)
    """
    found = _AGENCY_NUMBER.match(name)
    if found is None:
        return None
    figures = found[1] or f"19{found[2]}"
    return _day(int(figures[:4]), int(figures[4:6]), int(figures[6:]))


def heading_date(text: str) -> datetime | None:
    """The date that the first line of a text consists of.

    Examples
    --------
    >>> heading_date("Samedi 7 juillet 2007\\n\\nIl pleut."), heading_date("On May 7, 2007 it rained. It was cold.")
    (datetime.datetime(2007, 7, 7, 0, 0), None)
    """
    line = text.lstrip()[: _LONGEST_DATE + 1].split("\n", 1)[0].strip()
    return parse_date(line) if len(words(line)) <= 3 + 3 else None


def _plain(found: datetime) -> datetime:
    """In universal time, without its zone."""
    return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)


def _day_in_figures(text: str) -> datetime | None:
    found = _NUMERIC.search(text)
    if found is None:
        return None
    first, second, third = int(found[1]), int(found[3]), int(found[4])
    if len(found[1]) == 4:
        return _day(first, second, third)
    year = third if len(found[4]) == 4 else third + (1900 if third >= 70 else 2000)
    month_first = found[2] == "/" and first <= 12
    return _day(year, first, second) if month_first else _day(year, second, first)


def _day_in_words(text: str) -> datetime | None:
    """A month by name, a year of four figures, and the figures of a day beside the month."""
    parts = words(text)
    if len(parts) > 3 + _MORE:
        return None
    months = _months()
    for k, part in enumerate(parts):
        if part in months:
            year = next((int(one) for one in parts if re.fullmatch("(?:19|20)[0-9]{2}", one)), None)
            beside = parts[k + 1 : k + 2] + parts[max(k - 1, 0) : k] + parts[max(k - 2, 0) : max(k - 1, 0)]
            days = [int(found[0]) for one in beside if (found := re.match(r"[0-9]{1,2}(?![0-9])", one))]
            return _day(year, months[part], days[0]) if year and days else None
    return None


@cache
def _months() -> dict[str, int]:
    return {word: k for k, listed in enumerate(word_lists("months").values(), 1) for word in listed}


def _day(year: int, month: int, day: int) -> datetime | None:
    try:
        return datetime(year, month, day)
    except ValueError:
        return None


def _clock(text: str) -> timedelta:
    found = _TIME_OF_DAY.search(text)
    if found is None:
        return timedelta()
    hours, minutes, seconds = int(found[1]), int(found[2]), int(found[3] or 0)
    if found[4]:
        hours = hours % 12 + (12 if found[4] in "Pp" else 0)
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)
