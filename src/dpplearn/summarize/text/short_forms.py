"""Makes shorter forms of a sentence for summaries with `compress=True`. Only spans are dropped: no word changes.

The rules are in `cut_rules`. Whatever they say, these spans stay: parts of quotations, words on which the truth depends
("not", "if", "unless", "allegedly"; list "kept" of data/cut-words.txt), and spans without which fewer than six words or
no sentence would be left. The first letter becomes a capital, and a space keeps two words apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dpplearn.summarize.text.cut_rules import english_rules, has_any, is_clause
from dpplearn.summarize.text.units import UNSPACED, count_words
from dpplearn.summarize.text.words import ENGLISH

Span = tuple[int, int]
_FEWEST_WORDS = 6  # words of a short form
_MOST_CHARACTERS = 1_000  # characters of a sentence that is looked at
_QUOTED = re.compile(
    r"“[^”]*”|\"[^\"]*\"|``.*?''|(?<![\w’'])[‘'](?=\w)[^’']*(?:['’]\w[^’']*)*['’](?!\w)|«[^»]*»|„[^“”]*[“”]"
)
_LONE_QUOTE = re.compile(r"[\"“”«»„]|``|''|(?<!\w)['‘](?=\w{3})")


class ShortForm(NamedTuple):
    """A shorter text, and the spans of the sentence that it leaves out."""

    text: str
    dropped: tuple[Span, ...]


def short_forms(text: str, language: str | None = None) -> tuple[ShortForm, ...]:
    """The shorter forms of an English sentence on one line: one by the light rules, one by all. Often there are none.

    Examples
    --------
    >>> for form in short_forms("However, the old bridge (built in 1931) was closed, leaving the town cut off."):
    ...     print(form.text)
    The old bridge was closed, leaving the town cut off.
    >>> short_forms("The bridge stays open, unless the river rises above the mark.")
    ()
    """
    quoted = quotations(text) if len(text) <= _MOST_CHARACTERS and language in (None, ENGLISH) else None
    if quoted is None:
        return ()
    found: dict[str, ShortForm] = {}
    gone: set[int] = set()  # the places of characters that are dropped
    for heavy in (False, True):
        gone = _cut(text, gone, quoted, heavy)
        form = ShortForm(without(text, _spans(gone)), _spans(gone))
        if gone and form.text != text:
            found.setdefault(form.text, form)
    return tuple(found.values())


def without(text: str, dropped: tuple[Span, ...]) -> str:
    """A text without some spans, with a capital in front and a space where two words would meet.

    Examples
    --------
    >>> without("However, it rained.", ((0, 9),))
    'It rained.'
    """
    out = ""
    for start, end in _outside(text, dropped):
        part = text[start:end]
        meet = out[-1:].isalnum() and part[:1].isalnum() and not UNSPACED.match(part)
        out += " " + part if meet else part
    out = out.strip()
    return out[:1].upper() + out[1:] if dropped and dropped[0][0] == 0 else out


def _outside(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """The spans before, between and after these spans."""
    return zip([0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)], strict=True)


def quotations(text: str) -> list[Span] | None:
    """The spans of the quotations in a text; None if a quotation mark has no partner."""
    spans = [found.span() for found in _QUOTED.finditer(text)]
    rest = "".join(text[start:end] for start, end in _outside(text, spans))
    return None if _LONE_QUOTE.search(rest) else spans


def _spans(places: set[int]) -> tuple[Span, ...]:
    """The runs of neighbouring places, as spans."""
    starts, ends = (
        (i for i in sorted(places) if i - 1 not in places),
        (i for i in sorted(places) if i + 1 not in places),
    )
    return tuple((start, last + 1) for start, last in zip(starts, ends, strict=True))


def _cut(text: str, gone: set[int], quoted: list[Span], heavy: bool) -> set[int]:
    """The places of all characters to drop: each rule is tried on the text that the rules before it left."""
    rules = [rule for rule in english_rules() if heavy or not rule.heavy]
    for rule in sorted(rules, key=lambda rule: not rule.heavy):  # what a heavy one cuts may free a light one
        now, origin = _left(text, gone)
        found = rule.pattern.search(now)
        while found is not None:
            begin, end = found.span("cut")
            span = origin[begin], origin[end - 1] + 1
            more, start = gone.union(range(*span)), max(found.start(), begin) + 1
            if rule.holds(found) and _is_safe(text, span, quoted) and _stands(without(text, _spans(more))):
                gone, start = more, begin
                now, origin = _left(text, gone)
            found = rule.pattern.search(now, start)
    return gone


def _left(text: str, gone: set[int]) -> tuple[str, Sequence[int]]:
    """The text that is left, and the place of each of its characters in the whole."""
    if not gone:
        return text, range(len(text))
    origin = [i for i in range(len(text)) if i not in gone]
    left = "".join(text[i] for i in origin)
    return (left[:1].upper() + left[1:] if 0 in gone else left), origin


def _is_safe(text: str, span: Span, quoted: list[Span]) -> bool:
    """Whether a span touches no quotation and has no word on which the truth depends."""
    start, end = span
    if any(start < b and a < end for a, b in quoted):
        return False
    return not has_any(text[start:end], "kept") and "n't" not in text[start:end].replace("’", "'")


def _stands(left: str) -> bool:
    """Whether the rest is still a sentence: it has enough words, and a verb."""
    return count_words(left) >= _FEWEST_WORDS and is_clause(left) and left[:1].isalnum()
