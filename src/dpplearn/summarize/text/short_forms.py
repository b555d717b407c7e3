"""Makes shorter forms of a sentence for summaries with `compress=True`, by dropping spans. No word changes.

The rules in `cut_rules` propose the spans. A span stays if it touches a quotation, has a word on which the truth
depends ("not", "if", "unless", "allegedly"; list "kept" of data/cut-words.txt), or if fewer than six words or no
sentence would be left. The first letter becomes a capital, and a space keeps two words apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dpplearn.summarize.text.cut_rules import english_rules, has_any, is_clause
from dpplearn.summarize.text.units import UNSPACED, count_words
from dpplearn.summarize.text.words import ENGLISH

Span = tuple[int, int]
_FEWEST_WORDS = 6  # a form with fewer words is not made
_MOST_CHARACTERS = 1_000  # a longer sentence has no shorter forms
_QUOTED = re.compile(
    r"“[^”]*”|\"[^\"]*\"|``.*?''|(?<![\w’'])[‘'](?=\w)[^’']*(?:['’]\w[^’']*)*['’](?!\w)|«[^»]*»|„[^“”]*[“”]"
)
_LONE_QUOTE = re.compile(r"[\"“”«»„]|``|''|(?<!\w)['‘](?=\w{3})")


class ShortForm(NamedTuple):
    """A shorter text, and the spans of the sentence that were dropped for it."""

    text: str
    dropped: tuple[Span, ...]


def short_forms(text: str, language: str | None = None) -> tuple[ShortForm, ...]:
    """The shorter forms of an English sentence on one line: one by the light rules, one by all rules, or none.

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
    forms: dict[str, ShortForm] = {}
    dropped: set[int] = set()  # places of the dropped characters
    for heavy in (False, True):
        dropped = _cut(text, dropped, quoted, heavy)
        form = ShortForm(without(text, _spans(dropped)), _spans(dropped))
        if dropped and form.text != text:
            forms.setdefault(form.text, form)
    return tuple(forms.values())


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
    spans = [match.span() for match in _QUOTED.finditer(text)]
    rest = "".join(text[start:end] for start, end in _outside(text, spans))
    return None if _LONE_QUOTE.search(rest) else spans


def _spans(places: set[int]) -> tuple[Span, ...]:
    """The runs of neighbouring places, as spans."""
    starts = [i for i in sorted(places) if i - 1 not in places]
    ends = [i + 1 for i in sorted(places) if i + 1 not in places]
    return tuple(zip(starts, ends, strict=True))


def _cut(text: str, dropped: set[int], quoted: list[Span], heavy: bool) -> set[int]:
    """The places of all characters to drop. Each rule is tried on what the rules before it left."""
    rules = [rule for rule in english_rules() if heavy or not rule.heavy]
    for rule in sorted(rules, key=lambda rule: not rule.heavy):  # after a heavy rule's cut, a light rule may match
        left, origin = _remaining(text, dropped)
        match = rule.pattern.search(left)
        while match is not None:
            begin, end = match.span("cut")
            span = origin[begin], origin[end - 1] + 1
            more, start = dropped.union(range(*span)), max(match.start(), begin) + 1
            if rule.holds(match) and _is_safe(text, span, quoted) and _is_sentence(without(text, _spans(more))):
                dropped, start = more, begin
                left, origin = _remaining(text, dropped)
            match = rule.pattern.search(left, start)
    return dropped


def _remaining(text: str, dropped: set[int]) -> tuple[str, Sequence[int]]:
    """The text that is left, and the place of each of its characters in the whole text."""
    if not dropped:
        return text, range(len(text))
    origin = [i for i in range(len(text)) if i not in dropped]
    left = "".join(text[i] for i in origin)
    return (left[:1].upper() + left[1:] if 0 in dropped else left), origin


def _is_safe(text: str, span: Span, quoted: list[Span]) -> bool:
    """Whether a span touches no quotation and has no word on which the truth depends."""
    start, end = span
    if any(start < b and a < end for a, b in quoted):
        return False
    return not has_any(text[start:end], "kept") and "n't" not in text[start:end].replace("’", "'")


def _is_sentence(text: str) -> bool:
    """Whether the rest is still a sentence: it has enough words, and a verb."""
    return count_words(text) >= _FEWEST_WORDS and is_clause(text) and text[:1].isalnum()
