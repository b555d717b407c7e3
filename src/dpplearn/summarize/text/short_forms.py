"""Shorter forms of a sentence, made by dropping spans: no word is changed, moved or added.

The rules are in `cut_rules`. Whatever they say, no span goes that has a quotation mark or lies in a quotation, that has
a negation, an "if", an "unless" or an "allegedly" (list "kept" of data/cut-words.txt), or that would leave fewer than
six words or nothing that is a sentence. What is mended: the first letter becomes a capital, and where two words would
meet a space stands between them.
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
_BRACKETS = re.compile(r"\s\([^()]{2,160}\)(?=[\s,.;:!?।،؟·]|$)|（[^（）]{2,160}）")


class ShortForm(NamedTuple):
    """A text, and the spans of its sentence that are not in it."""

    text: str
    dropped: tuple[Span, ...]


def short_forms(text: str, language: str | None = None) -> tuple[ShortForm, ...]:
    """The shorter forms of a sentence on one line: with the light rules, and with all; none where there is none.

    In a language other than English only parentheses go.

    Examples
    --------
    >>> for form in short_forms("However, the old bridge (built in 1931) was closed, leaving the town cut off."):
    ...     print(form.text)
    The old bridge was closed, leaving the town cut off.
    >>> short_forms("The bridge stays open, unless the river rises above the mark.")
    ()
    """
    if not 0 < len(text) <= _MOST_CHARACTERS:
        return ()
    english = language in (None, ENGLISH)
    quoted = quotations(text)
    if quoted is None:
        return ()
    found: dict[str, ShortForm] = {}
    dropped: tuple[Span, ...] = ()
    for heavy in (False, True) if english else (False,):
        dropped = _cut(text, dropped, quoted, heavy) if english else _without_brackets(text, quoted)
        if dropped:
            form = ShortForm(without(text, dropped), dropped)
            if form.text != text:
                found.setdefault(form.text, form)
    return tuple(found.values())


def without(text: str, dropped: tuple[Span, ...]) -> str:
    """A text without some spans, mended: a capital in front, a space where two words meet.

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
    """What lies before, between and after spans."""
    return zip([0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)], strict=True)


def quotations(text: str) -> list[Span] | None:
    """Where a text quotes; None where a quotation mark has no partner."""
    spans = [found.span() for found in _QUOTED.finditer(text)]
    rest = "".join(text[start:end] for start, end in _outside(text, spans))
    return None if _LONE_QUOTE.search(rest) else spans


def _cut(text: str, dropped: tuple[Span, ...], quoted: list[Span], heavy: bool) -> tuple[Span, ...]:
    """The spans to drop, with those dropped already: rule after rule, each on what the last ones left."""
    now, origin = _kept(text, dropped)
    rules = [rule for rule in english_rules() if heavy or not rule.heavy]
    for rule in sorted(rules, key=lambda rule: not rule.heavy):  # what a heavy one cuts may free a light one
        found = rule.pattern.search(now)
        while found is not None:
            begin, end = found.span("cut")
            span = origin[begin], origin[end - 1] + 1
            more = _joined(dropped, span)
            if rule.holds(found) and _is_safe(text, span, quoted) and _stands(without(text, more)):
                dropped, start = more, begin
                now, origin = _kept(text, dropped)
            else:
                start = max(found.start() + 1, begin + 1)
            found = rule.pattern.search(now, start)
    return dropped


def _kept(text: str, dropped: tuple[Span, ...]) -> tuple[str, Sequence[int]]:
    """What is left of a text, and where each character stands in it."""
    if not dropped:
        return text, range(len(text))
    origin = [i for start, end in _outside(text, dropped) for i in range(start, end)]
    left = "".join(text[i] for i in origin)
    return (left[:1].upper() + left[1:] if dropped[0][0] == 0 else left), origin


def _joined(dropped: tuple[Span, ...], span: Span) -> tuple[Span, ...]:
    """Spans in order, without those that the new one covers, touching ones as one."""
    out: list[Span] = []
    for a, b in sorted((*dropped, span)):
        if out and a <= out[-1][1]:
            out[-1] = out[-1][0], max(b, out[-1][1])
        else:
            out.append((a, b))
    return tuple(out)


def _is_safe(text: str, span: Span, quoted: list[Span]) -> bool:
    """Whether no quotation and no word that the truth hangs on would go."""
    start, end = span
    if any(start < b and a < end for a, b in quoted):
        return False
    return not has_any(text[start:end], "kept") and "n't" not in text[start:end].replace("’", "'")


def _stands(left: str) -> bool:
    """Whether what is left is a sentence still: words enough, and a verb."""
    return count_words(left) >= _FEWEST_WORDS and is_clause(left) and left[:1].isalnum()


def _without_brackets(text: str, quoted: list[Span]) -> tuple[Span, ...]:
    """Parentheses, of a text in any language."""
    dropped: tuple[Span, ...] = ()
    for found in _BRACKETS.finditer(text):
        start, end = found.span()
        inside = any(start < b and a < end for a, b in quoted)
        if sum(map(str.isalpha, found[0])) > 2 and text[:start].rstrip()[-1:].isalnum() and not inside:
            dropped = (*dropped, (start, end))
    return dropped if count_words(without(text, dropped)) >= _FEWEST_WORDS else ()
