"""Recognizes English minutes, chats, mails, papers and laws, and the sentences for which people read them.

People read minutes, chats and mails for what was agreed, a paper for what was done and found, a law for what one must
do. The first words of lines show the kind.
"""

from __future__ import annotations

import re
from typing import NamedTuple

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


class Kind(NamedTuple):
    """A kind of document, the pattern of its most wanted sentences, and where the introduction of a paper begins."""

    name: str
    says: re.Pattern[str]
    introduction: int = 0


def text_kind(text: str, talk: bool = False) -> Kind | None:
    """The kind of a document, "talk", "paper" or "law"; None for any other.

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
