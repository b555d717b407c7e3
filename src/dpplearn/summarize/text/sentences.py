"""A rule-based sentence splitter that returns character offsets, in time linear in the text.

Every stop (a period, a danda, ...) is looked at once, with the word before it and the words after it, never more than
`WINDOW` characters away. No pattern nests one repetition in another, so that no text makes it slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dpplearn._cached import cached_property
from dpplearn.summarize.text.blocks import WHOLE, Block, find_blocks, with_turns
from dpplearn.summarize.text.words import (
    ALWAYS,
    CLOSERS,
    DASHES,
    DATES,
    EITHER,
    NOTE,
    OPENERS,
    SPACED,
    UNSEEN,
    has_word,
    word_lists,
)

WINDOW = 60
_ABBR = word_lists("abbreviations")  # words with a period that need not end a sentence, by what may follow them
_NO_END = DATES.union(*(_ABBR[name] for name in ("titles", "never", "numbered", "parts", "suffixes", "capitalized")))

_BEFORE_WORDS = frozenset(OPENERS + EITHER + DASHES + UNSEEN + " ")
_STOPS = re.escape(SPACED + ALWAYS)
_STOP_RUN = re.compile(f"[{_STOPS};|](?:(?<![;|])[{_STOPS}]+)?")
# The only ones of an ASCII text, in which they are found in half the time; before these none ends a sentence.
_ASCII_STOP = re.compile("[.!?]++(?![a-z0-9])")
_SPACE = re.compile(r"\s+")
_NEXT_WORD = re.compile(r"[^\W_][\w'’]{0,40}")
_TOKENS = re.compile(r"[\w'’]+|[.!?]")
_TOLD = re.compile(r"[^\W\d_]{1,8}(?:说|說|[说說问問答]道|表示|称|稱)[。！]")
CODE = "\u2060"  # before a word that begins a sentence though it is in small letters, as readers of markup know
_ACRONYM = re.compile(r"[^\W\d_]{1,2}(?:\.[^\W\d_]{1,2}){1,6}$")


class Piece(NamedTuple):
    """A sentence, or a heading, as character offsets; the block that it is in, and the heading above it."""

    start: int
    end: int
    block: Block
    section: Block | None = None

    @property
    def kind(self) -> str:
        """What its block is."""
        return self.block.kind

    @property
    def is_whole(self) -> bool:
        """Whether nothing else is in its block, but for a mark or a space."""
        return self.end - self.start + 3 > self.block.end - self.block.start


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Split a text into sentences, as character offsets.

    Headings and list items are sentences of their own; markers of lists, and pieces without a letter or digit, are
    left out.

    Parameters
    ----------
    text : str
        Blank lines end sentences. Other line ends are hard wraps, unless the text has one sentence per line.

    Returns
    -------
    list of (start, end)
        In order, without overlap: `text[start:end]` is a sentence with its closing quotes, without white space
        around it.

    Examples
    --------
    >>> text = "Gen. Piet left the U.S. on Jan. 5. He was 61. ``Why?'' Mr. Osei asked."
    >>> [text[start:end] for start, end in split_sentences(text)]
    ['Gen. Piet left the U.S. on Jan. 5.', 'He was 61.', "``Why?'' Mr. Osei asked."]
    """
    return [(piece.start, piece.end) for piece in find_pieces(text)]


def find_pieces(text: str, blocks: Iterable[Block] | None = None) -> Iterator[Piece]:
    """Yield the sentences of a text's blocks, which are found where they are not given; a heading is one piece."""
    section = None
    for block in find_blocks(text) if blocks is None else with_turns(text, blocks):
        start = block.start
        for end in _ends(text, block):
            start = _skip_space(text, start, end)
            stop = start + len(text[start:end].rstrip())
            if has_word(text, start, stop):
                yield Piece(start, stop, block, section)
            start = end
        if block.kind == "heading":
            section = block


def _skip_space(text: str, start: int, stop: int) -> int:
    match = _SPACE.match(text, start, stop)
    return match.end() if match else start


def _ends(text: str, block: Block) -> Iterator[int]:
    """Where the sentences of a block end; the last is its end."""
    low, high, kind = block
    if kind not in WHOLE:
        view, done = None, low
        for match in (_ASCII_STOP if text.isascii() else _STOP_RUN).finditer(text, low, high):
            start, stop = match.span()
            if stop >= high:
                break
            if start < done:
                continue  # taken with the closing quotes of the stop before
            if _is_plain(text, low, high, start):
                yield stop
                done = stop
                continue
            view = view or _View(text, low, high)
            end = view.end_at(start, stop)
            if end is not None and end < high:
                yield end
                done = end
    yield high


def _is_plain(text: str, low: int, high: int, start: int) -> bool:
    """Whether a period stands between a word that is no abbreviation and a capital: most ends, told at once."""
    if text[start : start + 2] != ". " or not "A" <= text[start + 2 : min(start + 3, high)] <= "Z":
        return False
    word = text[text.rfind(" ", max(low, start - 40), start) + 1 : start]
    return 2 < len(word) < 40 and word.isascii() and word.isalpha() and word.lower() not in _NO_END


class _View:
    """A block, and what stands around the stops in it.

    Everywhere below, `start` is the offset of a stop, `head` the first character of the next word and `after` that
    word in lower case, `opened` what opens before it, and `quoted` whether a quote closes after the stop.
    """

    def __init__(self, text: str, low: int, high: int) -> None:
        self.text, self.low, self.high = text, low, high
        self.counted = low, 0  # straight quotes up to an offset

    @cached_property
    def uncased(self) -> bool:
        """Whether the writer uses no capitals."""
        return self.text[self.low : self.high].islower()

    def end_at(self, start: int, stop: int) -> int | None:
        """The end of the sentence that the stop start:stop closes, with its closing quotes; None if it has none."""
        always = self.text[stop - 1] in ALWAYS
        if self.text[start] in ";|":
            if not self.is_foreign_stop(start):
                return None
            always = True
        here, quoted = self.closing(stop)
        if here >= self.high:
            return self.high
        following = _skip_space(self.text, here, self.high)
        if following == here:
            if always:
                # Japanese closes the quote and goes on: "..." to it said.
                goes_on = self.text[here] in "，、,;；：:-–—" or (quoted and self.text[here] in "とっ")
                told = quoted and _TOLD.match(self.text, here, self.high)  # and Chinese says who said it
                return None if goes_on or told else here
            return here if self.is_space_missing(start, here) else None
        while following < self.high and self.floats(following):  # « Attendez. » and tokenized text
            here = following + (2 if self.text.startswith("''", following) else 1)
            quoted = True
            following = _skip_space(self.text, here, self.high)
        if following >= self.high:
            return self.high
        return here if self.begins(start, stop, following, quoted, always) else None

    def closing(self, here: int) -> tuple[int, bool]:
        """Pass over what closes with a stop; whether a quote was among it."""
        quoted = False
        while here < self.high:
            char = self.text[here]
            if char in EITHER:
                after = self.text[here + 1 : here + 2]
                if here + 1 < self.high and (after.isalnum() or after in OPENERS) and not self.is_open(char, here):
                    break  # it opens what comes next
                quoted = True
            elif char in UNSEEN:  # marks of direction
                pass
            elif char in CLOSERS:
                quoted = quoted or char not in ")]}）】〕］｝"
            elif char == "[":
                note = NOTE.match(self.text, here, self.high)
                if note is None:
                    break
                here = note.end() - 1
            else:
                break
            here += 1
        return here, quoted

    def is_open(self, char: str, here: int) -> bool:
        """Whether a straight quote was opened and not closed before, where no space tells: after 。 and the like."""
        if char != '"' or self.text[here - 1] not in ALWAYS:
            return False
        seen, number = self.counted
        number += self.text.count(char, seen, here)
        self.counted = here, number
        return number % 2 == 1

    def floats(self, here: int) -> bool:
        """Whether a closing quote stands apart from its sentence."""
        if self.text.startswith("''", here):
            return True
        if self.text[here] not in "\"'»" and self.text[here] not in CLOSERS:
            return False
        return here + 1 >= self.high or self.text[here + 1].isspace()

    def is_foreign_stop(self, start: int) -> bool:
        """Whether ; is a Greek question mark, or | a danda."""
        before = self.text[max(self.low, start - 2) : start].rstrip()[-1:]
        if self.text[start] == ";":
            return "\u0370" <= before <= "\u03ff" or "\u1f00" <= before <= "\u1fff"
        return "\u0900" <= before <= "\u097f"

    def is_space_missing(self, start: int, here: int) -> bool:
        """Whether the next sentence follows without a space: "is out.The road", not "Main.java" or "U.S.Army"."""
        after = self.text[here : here + 2]
        if not (after[:1].isupper() and after[1:].islower()):
            return False
        word = self.before(start)
        rest = self.text[here : min(self.high, here + WINDOW)].split(None, 1)[0]
        return len(word) > 2 and word.islower() and word.isalpha() and rest.rstrip(".,;:!?").replace("'", "").isalpha()

    def before(self, start: int) -> str:
        """The word that a stop follows."""
        near = self.text[max(self.low, start - 40) : start]
        return "" if not near or near[-1].isspace() else near.split()[-1].lstrip(OPENERS + EITHER + DASHES + ".…/")

    def begins(self, start: int, stop: int, following: int, quoted: bool, always: bool) -> bool:
        """Whether a new sentence begins at `following`, after white space."""
        first, opened = following, ""
        while first < self.high and first < following + 8 and self.text[first] in _BEFORE_WORDS:
            opened += self.text[first]
            first += 1
        if first >= self.high:
            return False
        head = self.text[first]
        match = _NEXT_WORD.match(self.text, first, min(self.high, first + WINDOW))
        word = match[0] if match else ""
        small = head.islower() and CODE not in opened and not self.uncased
        if small and not (len(word) > 2 and word[1].isupper()):  # iPhone, eBay
            return False
        if head in ",;:)]}" + SPACED + ALWAYS:
            return False
        if always:
            return True
        stops = self.text[start:stop]
        if "!" in stops or "?" in stops or stops[-1] in "‼⁇⁈⁉‽":
            return self.follows_cry(start, first, word, quoted)
        if len(stops) > 1 or stops in "…‥":
            bracketed = start > self.low and self.text[start - 1] in "[(" and self.text[stop : stop + 1] in ("]", ")")
            return not bracketed and not head.isdigit() and word.split("'")[0].split("’")[0] != "I"
        return self.follows_period(start, head, word.lower(), opened, quoted)

    def follows_cry(self, start: int, first: int, word: str, quoted: bool) -> bool:
        """After a question or exclamation mark."""
        if self.text[start - 1 : start] in ("(", "[") and start > self.low:
            return False
        if word.lower() in ("inc", "corp", "co", "ltd"):  # Yahoo! Inc.
            return False
        if quoted and word.lower() not in _ABBR["pronouns"]:  # "Stop!" Conductor Webb yelled.
            for token in _TOKENS.findall(self.text, first, min(self.high, first + WINDOW))[:6]:
                if token in _ABBR["speech"]:
                    return False
                if token in "!?" or (token[0].islower() and token not in ("of", "de", "van", "von", "bin", "al")):
                    break
        return True

    def follows_period(self, start: int, head: str, after: str, opened: str, quoted: bool) -> bool:
        """After one period, which may belong to an abbreviation."""
        word = self.before(start)
        if not word or quoted:
            return True
        name = word.lower()
        if "-" in name and not (word.isupper() and any(map(str.isdigit, word))):  # as UTF-8-SIG is
            word, name = word.rpartition("-")[2], name.rpartition("-")[2]  # R-Tenn.
        starts = after in _ABBR["starters"] or any(mark in opened for mark in '"“«`')
        if opened[:1] and opened[0] in DASHES and (name in _ABBR["suffixes"] or name in _ABBR["months"] or "." in name):
            return False  # BOSTON, Mass. -- The
        if name in _ABBR["never"] or (head.isdigit() and name.endswith("str")):  # Bahnhofstr. 12
            return False
        if self.text[max(self.low, start - 5) : start].endswith("J.-C"):
            return after in _ABBR["foreign starters"]
        if name in _ABBR["numbered"] and (head.isdigit() or head in "#№" or self.is_code(start)):
            return False
        if name in _ABBR["parts"] and head.isupper() and set(after) <= set("ivxlc"):
            return False
        if len(word) == 1 and word.isalpha():
            return self.follows_letter(start, word, head, after, starts)
        if name in ("a.m", "p.m"):
            return "(" not in opened and after not in DATES and after not in _ABBR["zones"]
        if "." in name:  # U.S., Ph.D., not example.org, 1.9.3
            return _ACRONYM.match(name) is None or (starts and not head.isdigit())
        if name in _ABBR["capitalized"] and word[0].islower():
            return True
        if name in _ABBR["titles"]:
            return after in _ABBR["articles"] and not opened
        if name in _ABBR["months"] or name in _ABBR["days"]:
            return not head.isdigit() and after not in DATES
        if name in _ABBR["suffixes"]:
            return starts or (name == "etc" and head.isupper())
        if head.islower():  # without capitals there is less to go by: 5 in. wide
            return len(name) > 2 or starts
        if name.isdigit() and len(name) <= 2:
            return after not in _ABBR["german months"] and not self.is_ordinal(start - len(name), after)
        return True

    def is_ordinal(self, start: int, after: str) -> bool:
        """Whether a number is the German "20.", by the word before it: in der 20. Kalenderwoche."""
        previous = self.text[max(self.low, start - 12) : start].split()[-1:]
        begins = after in _ABBR["starters"] | _ABBR["foreign starters"]
        return not begins and not _ABBR["before ordinals"].isdisjoint(previous)

    def is_code(self, start: int) -> bool:
        """Whether the next word is made of capitals and figures, as in "no. CC/2023/17"."""
        word = "".join(self.text[start + 1 : min(self.high, start + WINDOW)].split(None, 1)[:1]).rstrip(".,;:)")
        return word.upper() == word and any(map(str.isdigit, word))

    def follows_letter(self, start: int, word: str, head: str, after: str, starts: bool) -> bool:
        """After an initial, or a letter that is a word."""
        previous = "".join(self.text[max(self.low, start - 40) : start - 1].split()[-1:])
        if word == "I":  # the pronoun, or the initial of a name
            return starts or (previous.islower() and previous.isalpha())
        if word.islower() and previous[-1:].isdigit():  # a unit: 5 m.
            return not head.isdigit()
        return starts and not head.isdigit() and after not in ("i", "a")
