"""Adds in square brackets what the readers of a chosen sentence need: `[Vincent] Cochetel`, `Friday [22 October]`.

A surname that stands alone gets the first name that its document gives; a weekday gets its date, by the date of its
document. Nothing is added that the sources do not say. The rules are for English names, titles and weekdays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from dpplearn.summarize.text.states import DAYS, looks_ahead
from dpplearn.summarize.text.words import word_set

_TITLE = (
    r"(?:(?:Mr|Mrs|Ms|Dr|Prof|Gov|Sen|Rep|Gen|Col|Lt|Maj|Capt|Sgt|Rev|Adm)\.|President|Chancellor|Premier|Governor"
    r"|Senator|Mayor|Judge|Justice|Minister|Secretary|General|Colonel|Captain|Professor|Doctor|Sir|Lord|King|Queen"
    r"|Prince|Princess|Pope|Cardinal|Bishop|Ambassador|Commissioner|Inspector|Detective|Chief)"
)
_SPEAKS = r"(?:said|says|told|added|warned|wrote|asked|announced|declared|insisted|argued|explained|resigned|testified)"
_NAME_PART = r"(?:[A-Z][a-zà-ÿ]+(?:['’-][A-Z][a-zà-ÿ]+){0,3}|Mc[A-Z][a-z]+|[A-Z]['’][A-Z][a-z]+)"
_FIRST_AND_LAST = rf"({_NAME_PART}(?:\s[A-Z]\.)?(?:\s{_NAME_PART})?)\s((?:(?:van|von|de|da|bin|al|el)\s)?{_NAME_PART})"
_PEOPLE = [  # full names that are surely a person's: by a title, by an age or role after it, by what it does
    re.compile(pattern)
    for pattern in (
        rf"{_TITLE}\s{_FIRST_AND_LAST}\b",
        rf"\b{_FIRST_AND_LAST}(?=,\s(?:\d\d?,|an?\s|the\s|who\s|\d\d?-year)|\s{_SPEAKS}\b|\swho\b)",
        rf"\b{_SPEAKS}\s{_FIRST_AND_LAST}\b",
    )
]
_LAST = re.compile(rf"(?<![\w'’-])((?:(?:van|von|de|da|bin|al|el)\s)?)({_NAME_PART})(?![\w-])")  # perhaps a surname
_NEXT = re.compile(rf"\s{_NAME_PART}")
LONGEST = 100  # characters of a word before a surname that are looked at
_NO_NAMES = word_set(  # in front of a name
    "the a an in on at by for from and but when after before while as if his her their this that kingdom affairs vice"
    " admiral major lieutenant sergeant corporal commander foreign prime deputy defense defence state spokesman"
    " spokeswoman attorney united national royal french british american european president chancellor premier governor"
    " senator mayor judge justice minister secretary general colonel captain professor doctor sir lord king queen"
    " prince princess pope cardinal bishop ambassador commissioner inspector detective chief mr. mrs. ms. dr. gov. sen."
)
_CAPITAL_RUN = re.compile(
    r"(?<![\w.'’-])[A-Z][\w.'’-]*(?:\s(?:(?:van|von|de|da|bin|al|el)\s)?[A-Z][\w.'’-]*)+"
)  # of words in upper case
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_WITH_DATE = rf",?\s+(?:the\s+)?(?:{'|'.join(_MONTH_NAMES)}|\d|\[)"  # "Friday, May 2" needs no date
_WEEKDAY = re.compile(rf"\b({'|'.join(day.capitalize() for day in DAYS)})\b(?![’']|{_WITH_DATE})")
_SPOKEN_DAY = re.compile(r"\b(today|yesterday|tonight|this (?:morning|afternoon|evening))\b(?!['’])", re.IGNORECASE)
_MAYBE = re.compile(r"\b(?:could|may|might)\b|\b(?:until|by)\s+$")
_OTHER_WEEK = re.compile(r"\b(?:next|last|every|each)\s+$")  # before a weekday that is perhaps not of this week


class Addition(NamedTuple):
    """A text in brackets, and the place in a sentence where it is put in."""

    at: int
    text: str


@lru_cache(maxsize=16)
def people(document: str) -> dict[str, str]:
    """The first names of the people whom a text introduces, by surname.

    Surnames of two people are left out, and words that may not be names: those that the text also has in lower case
    ("Air France") or in front of other names.

    Examples
    --------
    >>> people("The rescue was led by Col. Dana Merrow. Idris Falk, the mayor, thanked her, said Ann Quill.")
    {'Merrow': 'Dana', 'Falk': 'Idris', 'Quill': 'Ann'}
    """
    found: dict[str, set[str]] = {}
    runs = [match.span() for match in _CAPITAL_RUN.finditer(document)]
    near = "\n".join(document[max(start - 12, 0) : end + 14] for start, end in runs)  # names, and what stands beside
    names = dict.fromkeys(names for pattern in _PEOPLE for names in pattern.findall(near))
    if not names:
        return {}
    parts = {part for first, _ in names for part in first.split()}
    count, together = Counter(_WORD.findall(document)), pairs(" - ".join(document[a:b] for a, b in runs), parts)
    for first, last in names:
        if last.lower() not in count:
            found.setdefault(last, set()).add(_first_name(first, last, count, together))
    return {last: min(firsts) for last, firsts in found.items() if len(firsts) == 1 and "" not in firsts}


def pairs(document: str, parts: set[str]) -> Counter[tuple[str, str]]:
    """How often one of these words stands before each capitalized word, with at most two of those between."""
    said = [word.strip(',;:.!?()"“”') for word in document.split()]
    found: Counter[tuple[str, str]] = Counter()
    for i, word in enumerate(said):
        for after in said[i + 1 : i + 4] if word in parts else ():
            if not after[:1].isupper():
                break
            found[word, re.split("['’]s?$", after)[0]] += 1
    return found


def _first_name(before: str, last: str, count: Counter[str], together: Counter[tuple[str, str]]) -> str:
    """The words before a surname that the text has nowhere else: the first name."""
    first: list[str] = []
    for part in reversed(before.split()):
        if part.lower() in _NO_NAMES or part.lower() in count:
            break
        if not part.endswith(".") and count[part] > together[part, last.split()[-1]]:
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
    known, places = people(document), dict[str, int]()
    if not any(last in text for last in known):
        return []
    for match in _LAST.finditer(text):
        places.setdefault(match[1] + match[2], match.start())
        places.setdefault(match[2], match.start(2))
    found = []
    for last, at in places.items():
        whole = f"{known.get(last)} {last}"
        if last not in known or whole in before or whole in text:
            continue
        word = text[max(at - LONGEST, 0) : at].split()[-1:] or [""]
        part_of_name = word[0][:1].isupper() and word[0].lower() not in _NO_NAMES
        after = _NEXT.match(text, at + len(last))
        if not (part_of_name or word[0].lower() in ("the", "a", "an", "of") or after):
            found.append(Addition(at, f"[{known[last]}] "))
    return found


def undated_days(text: str, before: str, told: date) -> list[Addition]:
    """The dates to add to the weekdays of a sentence that was written on some day.

    A weekday means the last such day, or the next one in a forecast. A date that already stands beside the same weekday
    in the text before is not added again.

    Examples
    --------
    >>> undated_days("The dam broke on Thursday.", "", date(2024, 3, 15))
    [Addition(at=25, text=' [14 March]')]
    """
    found: dict[str, Addition] = {}
    for match in _WEEKDAY.finditer(text):
        ahead, name = text[: match.start()], match[1].lower()
        if name in found or _OTHER_WEEK.search(ahead):
            continue
        clause = re.split(r"[,;]", ahead)[-1]
        days = (DAYS.index(name) - told.weekday()) % 7
        back = 7 if days and not (looks_ahead(clause) or _MAYBE.search(clause)) else 0
        day = told + timedelta(days - back)
        added = f" [{day.day} {_MONTH_NAMES[day.month - 1]}]"
        if match[1] + added not in before:
            found[name] = Addition(match.end(), added)
    spoken = _SPOKEN_DAY.search(text)
    if spoken:
        day = told - timedelta(spoken[1].lower() == "yesterday")
        added = f" [{day.day} {_MONTH_NAMES[day.month - 1]}]"
        if added not in before:
            found["today"] = Addition(spoken.end(), added)
    return [*found.values()]


def annotated(text: str, additions: Sequence[Addition]) -> str:
    """A text with its additions in their places."""
    for at, added in sorted(additions, reverse=True):
        text = text[:at] + added + text[at:]
    return text
