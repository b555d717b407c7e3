"""The tags and the text of HTML or SGML, in one pass, whatever is broken in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

_NAME = re.compile(r"/?([A-Za-z][A-Za-z0-9_:.-]{0,40})")
_MARK = re.compile('[">]')
_LONGEST_TAG = 5_000
_HUGE = re.compile("&#[0-9]{20,};?")  # a character's number that Python would not even read


def characters(text: str) -> str:
    """A text with its entities resolved."""
    return unescape(_HUGE.sub("\ufffd", text))


def tokens(source: str, raw: frozenset[str] = frozenset()) -> Iterator[tuple[str, str, str]]:
    """Yield ("text", text, ""), ("open", tag, attributes) and ("close", tag, "") of HTML or SGML, tags in lower case.

    Attributes are as they are written. One pass, in time linear in the source, whatever is broken in it: Python's
    html.parser takes quadratic time for comments that are never closed. What stands inside the elements named in `raw`
    is passed over.
    """
    here, size, ends = 0, len(source), _TagEnds(source)
    closed = source.rfind(">") + 1  # a "<" from here on is text
    while here < size:
        start = source.find("<", here)
        if start < 0:
            break
        if start > here:
            yield "text", source[here:start], ""
            here = start
        if source.startswith("<!--", start):
            here = source.find("-->", start) + 3
            if here < 3:
                return  # as browsers do: an open comment hides the rest
            continue
        if start >= closed:
            break
        name = _NAME.match(source, start + 1)
        if name is None and source[start + 1] not in "!?/":
            yield "text", "<", ""
            here = start + 1
            continue
        here = ends.after(start)
        if name is None:
            continue
        tag = name[1].lower()
        if name[0][0] == "/":
            yield "close", tag, ""
            continue
        yield "open", tag, source[name.end() : min(here - 1, name.end() + _LONGEST_TAG)]
        if tag in raw:
            end = re.compile(f"</{tag}", re.IGNORECASE | re.ASCII).search(source, here)
            if end is None:
                return
            here = end.start()
    if here < size:
        yield "text", source[here:], ""


class _TagEnds:
    """Where tags end: at the first ">" outside double quotes; at the first at all if those are not closed nearby.

    The ">" looked for has as many quotes before it, modulo 2, as the tag: for each of the two there is one search that
    goes on where it was, so that no part of the source is looked at more than twice. Tags are asked for in order.
    """

    def __init__(self, source: str) -> None:
        self.source, self.here, self.odd = source, 0, False
        self.reached = {False: (0, False), True: (0, True)}  # where each search is, and whether quotes are odd there

    def after(self, start: int) -> int:
        """The end of the tag at `start`."""
        self.odd ^= bool(self.source.count('"', self.here, start) % 2)
        self.here = start
        at, odd = max(self.reached[self.odd], (start, self.odd))
        for mark in _MARK.finditer(self.source, at, start + _LONGEST_TAG):
            if mark[0] == ">" and odd == self.odd:
                self.reached[self.odd] = mark.start(), odd
                return mark.end()
            odd ^= mark[0] == '"'
        self.reached[self.odd] = start + _LONGEST_TAG, odd
        return self.source.find(">", start) + 1
