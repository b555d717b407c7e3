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

_STOPS = re.escape(SPACED + ALWAYS)
_STOP_RUN = re.compile(f"[{_STOPS};|](?:(?<![;|])[{_STOPS}]+)?")
_NO_QUOTE = frozenset(")]}）】〕］｝" + UNSEEN)
# Characters that close with a stop: also marks of direction, notes, and quotes that open nothing. « Non. » has a space.
_CLOSING = re.compile(
    rf"(?:[{re.escape(CLOSERS + UNSEEN)}]|{NOTE.pattern}|[{re.escape(EITHER)}](?![^\W_]|[{re.escape(OPENERS)}]))*+"
)
_CLOSING_APART = re.compile(rf"((?:\s*(?:''|[\"'»{re.escape(CLOSERS)}](?=\s|\Z)))*+)\s*+")
_OPENING = re.compile(f"[{re.escape(OPENERS + EITHER + DASHES + UNSEEN)} ]{{0,8}}")  # before the first word
_NEXT_WORD = re.compile(r"[^\W_][\w'’]{0,40}|")
_TOKENS = re.compile(r"[\w'’]+|[.!?]")
# After a quotation without a space: Japanese closes the quote and goes on ("..." to it said), Chinese says who said it.
_GOES_ON = re.compile(
    r"[，、,;；：:\-–—]|(?<=[」』”\"’])[とっ]|(?<=[」』”\"’])[^\W\d_]{1,8}(?:说|說|[说說问問答]道|表示|称|稱)[。！]"
)
CODE = "\u2060"  # before a word that begins a sentence though it is in small letters, as readers of markup know
_NUMBER = re.compile(r"\s*(?:[#№]|[A-Z]*[-/]?\d)")  # 12, #12, KX/2031
_LETTERED = re.compile(r"\((?:[a-z]|[ivx]{1,4}|[0-9]{1,2})\)\s+[A-Z]")  # "(b) You may": a clause of a law
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
            piece = text[start:end].rstrip()
            stop, start = start + len(piece), start + len(piece) - len(piece.lstrip())
            if has_word(text, start, stop):
                yield Piece(start, stop, block, section)
            start = end
        if block.kind == "heading":
            section = block


def _ends(text: str, block: Block) -> Iterator[int]:
    """Where the sentences of a block end; the last is its end."""
    low, high, kind = block
    done, stops = low, _Stops(text, low, high)
    for start, stop in () if kind in WHOLE else map(re.Match.span, _STOP_RUN.finditer(text, low, high)):
        if stop >= high:
            break
        if start >= done:  # else it was taken with the closing quotes of the stop before
            end = stops.end_at(start, stop)
            if end is not None and end < high:
                yield end
                done = end
    yield high


class _Stops:
    """Decides at the stops of a block whether a sentence ends there.

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
        text, high, always = self.text, self.high, self.text[stop - 1] in ALWAYS
        if text[start] in ";|":
            always = self.is_foreign_stop(start)
            if not always:
                return None
        here = stop if text[stop] == " " else self.closed(stop)  # most often
        if text.startswith('"', here) and always and self.is_open(here):
            here = self.closed(here + 1)
        quoted = not _NO_QUOTE.issuperset(text[stop:here])
        if here < high and not text[here].isspace():
            goes_on = _GOES_ON.match(text, here, high) is not None
            return here if (not goes_on if always else self.is_space_missing(start, here)) else None
        apart = _CLOSING_APART.match(text, here, high)
        assert apart is not None
        if apart[1]:
            here, quoted = apart.end(1), True
        following = apart.end()
        if following >= high:
            return high
        return here if self.begins(start, stop, following, quoted, always) else None

    def closed(self, position: int) -> int:
        """Where what closes with a stop ends."""
        match = _CLOSING.match(self.text, position, self.high)
        return match.end() if match else position

    def is_open(self, here: int) -> bool:
        """Whether a straight quote was opened and not closed before, where no space tells: after 。 and the like."""
        seen, number = self.counted
        self.counted = here, number + self.text.count('"', seen, here)
        return self.counted[1] % 2 == 1

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
        opening = _OPENING.match(self.text, following, self.high)
        assert opening is not None
        opened, first = opening[0], opening.end()
        if first >= self.high:
            return False
        if _LETTERED.match(self.text, following, self.high):
            return True
        head, match = self.text[first], _NEXT_WORD.match(self.text, first, min(self.high, first + WINDOW))
        word = match[0] if match else ""
        asked = self.text[start] in "?!" and self.text[self.low : self.low + 1].islower()  # as people chat
        small = head.islower() and CODE not in opened and not (asked or self.uncased)
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
        word, name = word.rpartition("-")[2], name.rpartition("-")[2]  # R-Tenn.
        starts = after in _ABBR["starters"] or any(mark in opened for mark in '"“«`')
        if opened[:1] and opened[0] in DASHES and (name in _ABBR["suffixes"] or name in _ABBR["months"] or "." in name):
            return False  # BOSTON, Mass. -- The
        if name in _ABBR["never"] or (head.isdigit() and name.endswith("str")):  # Bahnhofstr. 12
            return False
        if name in _ABBR["numbered"] and _NUMBER.match(self.text, start + 1, self.high):
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

    def follows_letter(self, start: int, word: str, head: str, after: str, starts: bool) -> bool:
        """After an initial, or a letter that is a word."""
        previous = "".join(self.text[max(self.low, start - 40) : start - 1].split()[-1:])
        if word == "I":  # the pronoun, or the initial of a name
            return starts or (previous.islower() and previous.isalpha())
        if word.islower() and previous[-1:].isdigit():  # a unit: 5 m.
            return not head.isdigit()
        return starts and not head.isdigit() and after not in ("i", "a")
