"""Recognizes English minutes, chats, mails, papers and laws, and the sentences for which people read them.

People read minutes, chats and mails for what was agreed, a paper for what was done and found, a law for what one must
do. The first words of lines show the kind.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LIFT = 0.6  # added to log q of a sentence that says what people read this kind of document for
_WHEN = r"(?:[0-9]{1,2}\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|the end)"
_WANTED = {
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
_HEADS = {  # a text is of a kind if at least so many different matches begin its lines
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
    "law": (3, re.compile(r"^\W*((?:§|(?i:art(?:icle|\.)|section|clause))\s?[0-9]+)\b(?! [a-z])", re.MULTILINE)),
}


class Kind(NamedTuple):
    """A kind of document, the pattern of its most wanted sentences, and where the introduction of a paper begins."""

    name: str
    says: re.Pattern[str]
    introduction: int = 0


def text_kind(text: str, is_talk: bool = False) -> Kind | None:
    """The kind of a document, "talk", "paper" or "law", or None; `is_talk` says that it is known to be the first.

    Examples
    --------
    >>> text_kind("Minutes of 4 March\\nPresent: Ann, Bo\\nIt rained.").name, text_kind("The minutes are present.")
    ('talk', None)
    """
    for kind, (fewest, head) in _HEADS.items():
        if (is_talk and kind == "talk") or len({*map(str.lower, head.findall(text))}) >= fewest:
            begins = _INTRODUCTION.search(text) if kind == "paper" else None
            return Kind(kind, _WANTED[kind], begins.start() if begins else 0)
    return None
