"""Adds first names and dates to chosen sentences, in square brackets: `[Vincent] Cochetel`, `Friday [22 October]`.

A surname that stands alone gets the first name that its document gives. "Friday", "yesterday" and "last week" get a
date, counted from the date of their document. Words such as "today" can also be left out. Nothing is added that the
sources do not say. The rules are for English names, titles and time words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from dpplearn.summarize.text.short_forms import Span, quotations
from dpplearn.summarize.text.states import DAYS, looks_ahead
from dpplearn.summarize.text.tolls import SMALL_NUMBERS
from dpplearn.summarize.text.words import word_set

_TITLE = (
    r"(?:(?:Mr|Mrs|Ms|Dr|Prof|Gov|Sen|Rep|Gen|Col|Lt|Maj|Capt|Sgt|Rev|Adm)\.|President|Chancellor|Premier|Governor"
    r"|Senator|Mayor|Judge|Justice|Minister|Secretary|General|Colonel|Captain|Professor|Doctor|Sir|Lord|King|Queen"
    r"|Prince|Princess|Pope|Cardinal|Bishop|Ambassador|Commissioner|Inspector|Detective|Chief)"
)
_SPEAKS = r"(?:said|says|told|added|warned|wrote|asked|announced|declared|insisted|argued|explained|resigned|testified)"
_NAME_PART = r"(?:[A-Z][a-zà-ÿ]+(?:['’-][A-Z][a-zà-ÿ]+){0,3}|Mc[A-Z][a-z]+|[A-Z]['’][A-Z][a-z]+)"
_FIRST_AND_LAST = rf"({_NAME_PART}(?:\s[A-Z]\.)?(?:\s{_NAME_PART})?)\s((?:(?:van|von|de|da|bin|al|el)\s)?{_NAME_PART})"
_PEOPLE = [  # full names of people: after a title, before an age or a role, or beside a verb of speech
    re.compile(pattern)
    for pattern in (
        rf"{_TITLE}\s{_FIRST_AND_LAST}\b",
        rf"\b{_FIRST_AND_LAST}(?=,\s(?:\d\d?,|an?\s|the\s|who\s|\d\d?-year)|\s{_SPEAKS}\b|\swho\b)",
        rf"\b{_SPEAKS}\s{_FIRST_AND_LAST}\b",
    )
]
_LAST = re.compile(rf"(?<![\w'’-])((?:(?:van|von|de|da|bin|al|el)\s)?)({_NAME_PART})(?![\w-])")  # may be a surname
_NEXT = re.compile(rf"\s{_NAME_PART}")
CONTEXT = 100  # characters before a surname or a time word that the rules look at
_NO_NAMES = word_set(  # these words before a name are not part of it
    "the a an in on at by for from and but when after before while as if his her their this that kingdom affairs vice"
    " admiral major lieutenant sergeant corporal commander foreign prime deputy defense defence state spokesman"
    " spokeswoman attorney united national royal french british american european president chancellor premier governor"
    " senator mayor judge justice minister secretary general colonel captain professor doctor sir lord king queen"
    " prince princess pope cardinal bishop ambassador commissioner inspector detective chief mr. mrs. ms. dr. gov. sen."
)
_CAPITAL_RUN = re.compile(r"(?<![\w.'’-])[A-Z][\w.'’-]*(?:\s(?:(?:van|von|de|da|bin|al|el)\s)?[A-Z][\w.'’-]*)+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_MONTH_OR_SHORT = "|".join([*_MONTH_NAMES, *(name[:3] for name in _MONTH_NAMES), "Sept"])
_PERIODS = {"last": -1, "this": 0, "next": 1}
_DAYS_AWAY = {"yesterday": -1, "last night": -1, "tomorrow": 1}  # all other such words mean the day itself
_DAY_WORD = (
    r"(?:today|tonight|tomorrow|yesterday(?: (?:morning|afternoon|evening|night))?"
    r"|this (?:morning|afternoon|evening)|last night)"
)
_DAY_OF_WEEK = rf"(?-i:{'|'.join(day.capitalize() for day in DAYS)})(?: morning| afternoon| evening| night)?+"
_TIME_WORD = re.compile(
    rf"\b(?:(?P<weekday>{_DAY_OF_WEEK})(?! (?-i:Times|Telegraph|Mail|Mirror|Herald|Express|Post|Night)\b)"
    rf"|(?P<day>{_DAY_WORD})"
    rf"|(?P<which>last|this|next) (?P<period>week|month|year)(?! of\b)"
    rf"|(?P<count>an?|{'|'.join(SMALL_NUMBERS[1:])}|\d\d?) (?P<unit>day|week|month)s? ago)\b(?P<genitive>['’]s)?"
    rf"(?!['’-]|,?\s+(?:the\s+)?(?:(?-i:{_MONTH_OR_SHORT})\b|\d|\[))",  # "Friday, May 2" needs no date
    re.IGNORECASE,
)
_MAYBE = re.compile(r"\b(?:could|may|might)\b|\b(?:until|by)\s+$")
_COMING_EVENT = re.compile(r"\b(?:ahead of|before|for)(?: the)?\s+$")  # "for Sunday's final"
_OTHER_WEEK = re.compile(r"\b(next|last)\s+$", re.IGNORECASE)  # a weekday after these words may not be of this week
_NO_TIME = re.compile(  # a day after these words has no date: "every Monday", "Good Friday"
    r"\b(?:every|each|day before|(?-i:Good|Black|Ash|Bloody|Super|Palm|Easter|Cyber|Fat))\s+$", re.IGNORECASE
)
_NO_PERIOD = re.compile(r"\b(?:the|its|their|more than)\s+$", re.IGNORECASE)  # "over the last week"
_SHOWN_DATE = re.compile(  # a word and its date in brackets
    rf"([^\W\d_]+)(?:['’]s)? \[((?:\d+ |early |mid-|late )?(?:{'|'.join(_MONTH_NAMES)})(?: \d{{4}})?|\d{{4}})\]"
)
LOOKED_BACK = 2_000  # characters before a sentence in which the rules look for the last date
_EARLY = r"(?:(?:earlier|early|later|late) )?"
_SPARE = re.compile(  # a time word that can go, at the beginning of a sentence or before words that do not need it
    rf"^(?:{_EARLY}{_DAY_WORD}|on {_DAY_OF_WEEK})(?:, (?!(?:the|an?) day\b)| (?=(?:the|an?)\b|(?-i:[A-Z])))"
    rf"|(?<=[\w)]) (?-i:{_EARLY}(?:{_DAY_WORD}|on {_DAY_OF_WEEK})"
    rf"|{_EARLY}{_DAY_OF_WEEK}(?=[.,;]| (?:that|in|for|to|with|after|by|from|when|because|and)\b))"
    r"(?=[.;]|(?!,? (?:and|or|to) (?:on|today|yesterday|tomorrow|this|again|(?-i:[A-Z])))"
    r"(?:,(?! (?:\d|(?-i:[A-Z][a-z]+day)\b))| (?!(?:than|as|is|was|are|were|at)\b|[\d\[(]|(?-i:[A-Z]))))",
    re.IGNORECASE,
)
_NEEDS_TIME = word_set(  # before a time word that cannot be left out
    "until till since from by as of for before after between through to like is was are were be been not still if that"
    " on about at and or but than only just even both how what when while here"
    " this next last past coming following every each any another one either some the a an its their his her"
)
_BEGINS_PHRASE = word_set("in at with from under")


class Addition(NamedTuple):
    """A text in brackets, and its place in a sentence."""

    at: int
    text: str


@lru_cache(maxsize=16)
def people(document: str) -> dict[str, str]:
    """The first names of the people whom a text introduces, by surname.

    Surnames of two people are left out, and so are words that may not be first names: the text also has them in lower
    case ("Air France") or before other names.

    Examples
    --------
    >>> people("The rescue was led by Col. Dana Merrow. Idris Falk, the mayor, thanked her, said Ann Quill.")
    {'Merrow': 'Dana', 'Falk': 'Idris', 'Quill': 'Ann'}
    """
    first_names: dict[str, set[str]] = {}
    runs = [match.span() for match in _CAPITAL_RUN.finditer(document)]
    contexts = "\n".join(document[max(start - 12, 0) : end + 14] for start, end in runs)  # names with words beside
    names = dict.fromkeys(names for pattern in _PEOPLE for names in pattern.findall(contexts))
    if not names:
        return {}
    parts = {part for first, _ in names for part in first.split()}
    count = Counter(_WORD.findall(document))
    pair_counts = count_pairs(" - ".join(document[a:b] for a, b in runs), parts)
    for first, last in names:
        if last.lower() not in count:
            first_names.setdefault(last, set()).add(_first_name(first, last, count, pair_counts))
    return {last: min(firsts) for last, firsts in first_names.items() if len(firsts) == 1 and "" not in firsts}


def count_pairs(document: str, parts: set[str]) -> Counter[tuple[str, str]]:
    """How often each of some words precedes a capitalized word, with at most two capitalized words between."""
    tokens = [word.strip(',;:.!?()"“”') for word in document.split()]
    counts: Counter[tuple[str, str]] = Counter()
    for i, word in enumerate(tokens):
        for after in tokens[i + 1 : i + 4] if word in parts else ():
            if not after[:1].isupper():
                break
            counts[word, re.split("['’]s?$", after)[0]] += 1
    return counts


def _first_name(before: str, last: str, count: Counter[str], pair_counts: Counter[tuple[str, str]]) -> str:
    """The first name: the words before a surname that the text has in no other use."""
    first: list[str] = []
    for part in reversed(before.split()):
        if part.lower() in _NO_NAMES or part.lower() in count:
            break
        if not part.endswith(".") and count[part] > pair_counts[part, last.split()[-1]]:
            break
        first.insert(0, part)
    return " ".join(first)


def unknown_people(text: str, before: str, document: str) -> list[Addition]:
    """The first names to add to surnames that stand alone, if the text before has not introduced the person.

    Examples
    --------
    >>> unknown_people("Calloran will report in May.", "", "Ruth Calloran, a judge, was named. Calloran will report.")
    [Addition(at=0, text='[Ruth] ')]
    """
    first_names, places = people(document), dict[str, int]()
    if not any(last in text for last in first_names):
        return []
    for match in _LAST.finditer(text):
        places.setdefault(match[1] + match[2], match.start())
        places.setdefault(match[2], match.start(2))
    additions = []
    for last, at in places.items():
        full_name = f"{first_names.get(last)} {last}"
        if last not in first_names or full_name in before or full_name in text:
            continue
        preceding = text[max(at - CONTEXT, 0) : at].split()[-1:] or [""]
        part_of_name = preceding[0][:1].isupper() and preceding[0].lower() not in _NO_NAMES
        after = _NEXT.match(text, at + len(last))
        if not (part_of_name or preceding[0].lower() in ("the", "a", "an", "of") or after):
            additions.append(Addition(at, f"[{first_names[last]}] "))
    return additions


def undated_times(
    text: str, before: str, written: date, with_year: bool = False, spare: Sequence[Span] = ()
) -> list[Addition]:
    """The dates to add to the time words of a sentence that was written on some day.

    A weekday means the last such day, or the next one in a forecast. No date is added if the last date in the text
    before is the same and stands beside the same word. Words in the `spare` spans get no date, either.

    Examples
    --------
    >>> undated_times("The dam broke on Thursday.", "", date(2024, 3, 15))
    [Addition(at=25, text=' [14 March]')]
    >>> undated_times("It rained last week.", "", date(2024, 3, 15), with_year=True)
    [Addition(at=19, text=' [early March 2024]')]
    """
    additions, text_before, end = list[Addition](), before[-LOOKED_BACK:], 0
    for match in time_words(text):
        when = _when(match, text[: match.start()], written, with_year)
        word = match[0].removesuffix(match["genitive"] or "").split()[-1]
        text_before += text[end : match.end()]
        is_spare = any(start <= match.start() < end for start, end in spare)
        if not is_spare and _SHOWN_DATE.findall(text_before)[-1:] != [(word, when)]:
            additions.append(Addition(match.end(), f" [{when}]"))
            text_before += additions[-1].text
        end = match.end()
    return additions


def time_words(text: str) -> list[re.Match[str]]:
    """The words of an English text that give a time only to readers who know when it was written.

    Examples
    --------
    >>> [match[0] for match in time_words("Today it rained, as on Friday night and Friday, May 2; USA Today said.")]
    ['Today', 'Friday night']
    """
    matches = []
    for match in _TIME_WORD.finditer(text):
        before = text[: match.start()]
        is_name = match["weekday"] is None and match[0][0].isupper() and before.rstrip("\"“‘'`")[-2:] not in ("", ": ")
        rule = _NO_TIME if match["weekday"] or match["day"] else _NO_PERIOD
        if not (is_name or rule.search(before[-CONTEXT:])):
            matches.append(match)
    return matches


def _when(match: re.Match[str], before: str, written: date, with_year: bool) -> str:
    """The date that a time word means, as exactly as it says; `before` is the text before it."""
    if match["weekday"]:
        return _weekday(match, before[-CONTEXT:], written, with_year)
    if match["day"]:
        away = next((days for word, days in _DAYS_AWAY.items() if match["day"].lower().startswith(word)), 0)
        return _day_and_month(written + timedelta(away), with_year)
    if match["count"]:
        count, unit = match["count"].lower(), match["unit"].lower()
        number = -(int(count) if count.isdigit() else SMALL_NUMBERS.index(count) if count in SMALL_NUMBERS else 1)
    else:
        number, unit = _PERIODS[match["which"].lower()], match["period"].lower()
    if unit == "day":
        return _day_and_month(written + timedelta(number), with_year)
    if unit == "week":
        middle = 0 if match["count"] else 3 - written.weekday()
        return _around(written + timedelta(7 * number + middle), with_year)
    return str(written.year + number) if unit == "year" else _month(written, number, with_year)


def _weekday(match: re.Match[str], before: str, written: date, with_year: bool) -> str:
    """The date of a weekday, which may be before or after the day of writing, or uncertain by a week."""
    index, other_week = DAYS.index(match["weekday"].split()[0].lower()), _OTHER_WEEK.search(before)
    days = (index - written.weekday()) % 7
    if other_week is None:
        clause = re.split(r"[,;]", before)[-1]
        coming = looks_ahead(clause) or _MAYBE.search(clause) or (match["genitive"] and _COMING_EVENT.search(clause))
        return _day_and_month(written + timedelta(days - (7 if days and not coming else 0)), with_year)
    sign = _PERIODS[other_week[1].lower()]
    day = written + timedelta((days or 7) if sign > 0 else days - 7)
    in_this_week = (index - written.weekday()) * sign > 0  # "next Friday", said on Monday, may be this one or the next
    return _around(day + timedelta(4 * sign), with_year) if in_this_week else _day_and_month(day, with_year)


def _day_and_month(day: date, with_year: bool) -> str:
    return f"{day.day} {_month(day, 0, with_year)}"


def _around(day: date, with_year: bool) -> str:
    part = "early " if day.day <= 10 else "mid-" if day.day <= 20 else "late "
    return f"{part}{_month(day, 0, with_year)}"


def _month(day: date, months: int, with_year: bool) -> str:
    year, month = divmod(12 * day.year + day.month - 1 + months, 12)
    return _MONTH_NAMES[month] + (f" {year}" if with_year else "")


def spare_times(text: str, with_weekdays: bool = True) -> list[Span]:
    """The spans of spare time words, such as "today" and "on Monday night": a news sentence reads well without them.

    Examples
    --------
    >>> text = "Police said today that the trial, open until today, ends."
    >>> [text[start:end] for start, end in spare_times(text)]
    [' today']
    """
    quoted = quotations(text)
    if quoted is None:
        return []
    undated = [match.start() for match in time_words(text) if with_weekdays or not match["weekday"]]
    spans = [match.span() for match in _SPARE.finditer(text) if _is_spare(text, *match.span())]
    spans = [(start, end) for start, end in spans if any(start <= at < end for at in undated)]
    return [span for span in spans if not any(span[0] < end and start < span[1] for start, end in quoted)]


def _is_spare(text: str, start: int, end: int) -> bool:
    """Whether a time word can go: no word before it needs it, and it is not about a day to come."""
    clause = re.split("[,;]", text[max(start - LOOKED_BACK, 0) : start])[-1]
    tokens = clause.lower().split()
    if (start and len(tokens) < 2) or looks_ahead(clause) or _MAYBE.search(clause):  # "The study, out today, says"
        return False
    is_phrase = text[end : end + 1] == "," and tokens[:1] and tokens[0] in _BEGINS_PHRASE  # "In a talk today, she"
    return not is_phrase and (tokens or [""])[-1] not in _NEEDS_TIME


def annotated(text: str, additions: Sequence[Addition]) -> str:
    """A text with its additions in their places."""
    for at, addition in sorted(additions, reverse=True):
        text = text[:at] + addition + text[at:]
    return text
