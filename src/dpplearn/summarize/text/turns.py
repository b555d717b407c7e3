"""Find the turns of chats and transcripts by the labels that say who speaks and when, again and again.

A label stands at the head of a line and is made of a time, a name, or both: `[14/09/2024, 09:12:01] Ann:`,
`09:12 Ann:`, `Ann (00:01:02):`, `Ann, [14.09.2024 09:12]`, `ANN:`. One such line says nothing; many say that
the document is a conversation, and so do three with a day and a name. Where most times have a name beside them, a line
with a time and no name is what the program says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

_FEWEST_LABELS = 3  # lines with labels that make a conversation
_DATE = (
    r"(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.](?:[0-9]{4}|[0-9]{2})"
    r"|[0-9]{1,2}\.? [^\W\d_]{3,9}\.?,? [0-9]{2,4}|[A-Z][a-z]{2,8}\.? [0-9]{1,2},? [0-9]{2,4})"
)
_NOON = r"(?:\s?[apAP]\.?\s?[mM]\b\.?|\s?Z\b)?"
_CLOCK = rf"[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}})?(?:[.,][0-9]{{1,3}})?{_NOON}"
_DOTTED = rf"[0-9]{{1,2}}[:.][0-9]{{2}}(?:[:.][0-9]{{2}})?(?:[.,][0-9]{{1,3}})?{_NOON}"
_DIGITS = re.compile(r"[0-9][:.][0-9]{2}")  # which every time has
_MOMENT = rf"(?:{_DATE}[,\sT]{{1,3}}(?:[^\W\d_]{{2,4}}\s)?{_DOTTED}|{_CLOCK}(?:,?\s{_DATE})?)"
_STAMP = rf"{_MOMENT}(?:\s?(?:-->|[-–—])\s?{_CLOCK})?"
_DAY_FIRST = re.compile(rf"\W?{_DATE}")
_NAME_LENGTH = 44  # characters of a name, and the colon after it
_COLON = re.compile("[:：]")
_NAME = r"[~@+*]?\s?[^\W_][^\n:<>\[\]{}|!?\"“”;=]{0,39}?"
_TIME_FIRST = re.compile(
    rf"(?:(?P<bracket>[\[(<{{])\s?{_STAMP}\s?[\])>}}]|{_STAMP})(?=\W|$)(?P<sep>\s*(?:[-–—|:]\s)?\s*)"
    rf"(?P<said>(?:<(?P<nick>{_NAME})>|(?P<name>{_NAME})\s?[:：])(?:\s+|$))?"
)
_NAME_FIRST = re.compile(
    rf"(?P<name>{_NAME})(?:[\s,–—-]*+[\[(]\s?{_STAMP}\s?[\])]\s*:?|(?:,|\s[-–—|])?\s++{_STAMP}\s*(?::|$))\s*"
)
_NAME_AND_COLON = re.compile(rf"(?P<name>{_NAME})\s?[:：](?:\s+|$)")
# Sounds and what a program shows instead of a picture, before the words: [laughter], (coughs), <Media omitted>
_SOUNDS = re.compile(r"(?:(?:\[[^\[\]\n]{1,60}\]|\([^()\n]{1,60}\)|<[^<>\n]{1,60}>)[.,:]?\s*)++")
_PROGRAM_MARK = "\u200e"  # with which some programs begin what is theirs


class Turn(NamedTuple):
    """Where in a line its words begin, and what stands before: who speaks, or all that a program says."""

    begin: int
    label: str = "byline"  # or "banner"


class _Label(NamedTuple):
    end: int  # of the time, where the label has one
    name: str  # "" without
    said: int  # where the words begin if the name is one
    sure: bool = True  # the time stands in brackets or alone
    dated: bool = False  # the time has a day


def find_turns(lines: Sequence[str], heads: Sequence[bool]) -> list[Turn | None]:
    """Tell for each line whether a turn begins in it; all None where the document is no conversation.

    Parameters
    ----------
    lines : sequence of str
        Without white space around them.
    heads : sequence of bool
        Whether a blank line, or nothing, stands before each.

    Examples
    --------
    >>> chat = ["[09:12] Ann created the group", "[09:12] Ann: It rains.", "[09:13] Bo: Again?", "[09:15] Ann: Yes."]
    >>> [turn and (turn.begin, turn.label) for turn in find_turns(chat, [True, False, False, False])]
    [(29, 'banner'), (13, 'byline'), (12, 'byline'), (13, 'byline')]
    """
    timed = [_timed(line) if _DIGITS.search(line) else None for line in lines]
    return _timed_turns(lines, timed) or _named_turns(lines, heads)


def _timed(line: str) -> _Label | None:
    match = _TIME_FIRST.match(line)
    if match:
        name = match["nick"] or match["name"] or ""
        if not _is_name(name):
            name = ""
        end, dated = match.end("sep"), _DAY_FIRST.match(line) is not None
        return _Label(end, name, match.end() if name else end, bool(match["bracket"]) or end == len(line), dated)
    match = _NAME_FIRST.match(line)
    return _Label(match.end(), match["name"], match.end()) if match and _is_name(match["name"]) else None


def _is_name(name: str) -> bool:
    return 0 < len(name.split()) <= 5


def _timed_turns(lines: Sequence[str], labels: Sequence[_Label | None]) -> list[Turn | None] | None:
    """Turns of a document with times; where most have a name, what has none is the program's."""
    stamped = [label for label in labels if label is not None]
    times = Counter(label.name for label in stamped if label.name)
    n_named = sum(times[label.name] > 1 or label.dated for label in stamped if label.name)
    is_talk = n_named >= _FEWEST_LABELS and 20 * n_named >= len(lines)
    if not is_talk and (len(stamped) < _FEWEST_LABELS or 4 * sum(label.sure for label in stamped) < len(lines)):
        return None
    spoken = 2 * times.total() >= len(stamped) and n_named > 0
    turns: list[Turn | None] = []
    for line, label in zip(lines, labels, strict=True):
        if label is None:
            turns.append(None)
        elif spoken and not label.name and label.end < len(line):
            turns.append(Turn(len(line), "banner"))
        else:
            turns.append(_turn(line, label.said if spoken else label.end))
    return turns


def _named_turns(lines: Sequence[str], heads: Sequence[bool]) -> list[Turn | None]:
    """Turns that begin with a name and a colon: two names that come again, in a third of the lines or paragraphs."""
    named = (_NAME_AND_COLON.match(line) if _COLON.search(line, 0, _NAME_LENGTH) else None for line in lines)
    matches = [match if match and _is_name(match["name"]) else None for match in named]
    times = Counter(match["name"] for match in matches if match)
    repeated = {name for name, number in times.items() if number > 1}
    label_heads = [head for head, match in zip(heads, matches, strict=True) if match and match["name"] in repeated]
    base = sum(heads) if 2 * sum(label_heads) > len(label_heads) else len(lines)
    if len(repeated) < 2 or len(label_heads) <= _FEWEST_LABELS or 3 * len(label_heads) < base:
        return [None] * len(lines)
    return [
        _turn(line, match.end()) if match and match["name"] in repeated else None
        for line, match in zip(lines, matches, strict=True)
    ]


def _turn(line: str, begin: int) -> Turn:
    if line.startswith(_PROGRAM_MARK, begin):
        return Turn(len(line), "banner")
    aside = _SOUNDS.match(line, begin)
    return Turn(aside.end() if aside else begin)
