"""Join words that were cut at the ends of lines. A hyphen stays if the word has it within a line, too."""

from __future__ import annotations

import re
from collections.abc import Iterable

SOFT = "\u00ad"
_TOKEN = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_FIRST_PART = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)-$")
_LINE_END = re.compile(r"[-\u2010\u00ad]\r?\n")  # found much faster than what follows
# A word cut at the end of a line of 20 characters or more, its rest on the next line, perhaps in a quotation ("> ").
_CUT = re.compile(
    r"(?<=[^\n]{20})(?<![^\W\d_])([^\W\d_]{2,30})([-\u2010\u00ad])(\r?\n[ \t>]{0,8})([^\W_]{2,30}(?:-[a-z]{1,30})?)"
    r"([^\s\w]{0,3})([ ]|(?=\r?\n|\Z))"
)
_QUOTATION = re.compile(r"^(>[ >]*)[^\s>][^\n]*(?:\n\1[^\W\d_][^\n]*)+", re.MULTILINE)
_LINE_MARK = re.compile(r"\r?\n>[ >]*")
_LINKS = frozenset(["and", "or", "to", "und", "oder", "bis", "et", "ou", "as", "but", "of", "en"])
_LEAST_LETTERS = 4  # of each half that may be a word of its own: "in-" seldom is


class Hyphens:
    """The words of a document; they show whether a hyphen at a line's end belongs to the word.

    "well-" and "known" keep it if "well-known" stands elsewhere, or if both halves do and "wellknown" does not. "exam-"
    and "ple" lose it.

    Examples
    --------
    >>> Hyphens(["A well-known exam-", "ple of a well-", "known fact"]).join(["An exam-", "ple, well-", "known"])
    'An example, well-known'
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self.words: set[str] = set()
        for line in lines:
            tokens = _TOKEN.findall(line.replace(SOFT, "").lower())
            cut = line.endswith(("-", "\u2010", SOFT))
            self.words.update(tokens[1:-1] if cut else tokens[1:])  # at its ends a line may have halves

    def join(self, lines: Iterable[str]) -> str:
        """One line of several."""
        parts: list[str] = []  # only the last is looked at and changed: a text of n lines takes n steps
        for line in filter(None, map(str.strip, lines)):
            above = parts[-1] if parts else ""
            if above.endswith(SOFT):
                parts[-1] = above.rstrip(SOFT)
            elif above.endswith("-") and line[0].islower():
                parts[-1] = above if self.keeps(above, line) else above[:-1]
            elif parts and not (above.endswith("-") and above[-2:-1].isalnum() and line[0].isalnum()):
                parts.append(" ")  # unless "Anglo-" "Saxon", "COVID-" "19"
            parts.append(line)
        return "".join(parts).replace(SOFT, "")

    def keeps(self, above: str, below: str) -> bool:
        """Whether the hyphen between two lines is part of the word."""
        first, second = _FIRST_PART.search(above[-80:]), _TOKEN.match(below[:80])
        if first is None or second is None:
            return True  # "3-" "fold"
        head, tail = first[1].lower(), second[0].lower()
        if head + tail in self.words:
            return False
        halves = min(len(head), len(tail)) >= _LEAST_LETTERS and {head, tail} <= self.words
        return f"{head}-{tail}" in self.words or "-" in head or halves


def unwrapped(text: str) -> str:
    """A text without the traces of hard wraps: hyphens at the ends of lines, and quotation marks before each line.

    A word that was cut now stands whole in the line in which it begins, and a quotation is one line.

    Examples
    --------
    >>> unwrapped("The ferry to the island sails every morn-\\ning at nine,\\nand twice on Sundays.")
    'The ferry to the island sails every morning\\nat nine,\\nand twice on Sundays.'
    >>> unwrapped("> The ferry sails\\n> every day.")
    '> The ferry sails every day.'
    """
    if _LINE_END.search(text) and _CUT.search(text):
        hyphens = Hyphens(text.splitlines())

        def joined(match: re.Match[str]) -> str:
            head, mark, end, tail, rest, space = match.groups()
            if tail in _LINKS:  # "pre- and post-war"
                return match[0]
            whole = hyphens.join([head + (SOFT if mark == SOFT else "-"), tail])
            return f"{whole}{rest}{end if space else ''}"

        text = _CUT.sub(joined, text)
    return _QUOTATION.sub(lambda match: _LINE_MARK.sub(" ", match[0]), text) if "\n>" in text else text
