"""Blocks say what each stretch of a text is. Readers of files give them, and plain text has them found in its lines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from dpplearn.summarize.text.dates import date_line
from dpplearn.summarize.text.turns import Turn, find_turns
from dpplearn.summarize.text.words import BLANK, CLOSERS, NOTE, STOPS, UNSEEN, word_lists, word_set

# All kinds of blocks. The sentences of a summary are taken from running text.
RUNNING = ("paragraph", "item", "quotation")
BLOCK_KINDS = (*RUNNING, "heading", "caption", "row", "code", "byline", "navigation", "banner", "footnote", "reference")
OUTSIDE = ("navigation", "banner")  # not part of the story, and neither is anything inside
WHOLE = ("heading", "row", "code")  # not cut into sentences
# How a block of its kind begins in plain text, so that a text that lost its blocks is still read as what it was.
BLOCK_MARKS = {"heading": "# ", "item": "- ", "quotation": "> ", "row": "| "}


_LIST_MARK = re.compile(r"(?:[•‣◦▪●·*+\-–—]|\(?[0-9]{1,3}[.)]|\(?[A-Za-z]\)|\([ivx]{1,4}\))[ \t\u00a0]+(?=\S)")
_HASHES = re.compile(r"#{1,6}[ \t]+(?=\S)")
_TAGS = re.compile(r"""^(?:<[A-Za-z]\w{0,19}(?: \w{1,20} ?= ?"[^"<>]{0,80}"){1,9}>[ \t]*)+""")  # <S sid="5">
_RULER = re.compile(r"(?:=+|-+|[*_~= \t-]+)$")
_DIGIT = re.compile(r"[0-9]")
_CELLS = ("\t", "|", ";")
_INNER_END = re.compile(r"[a-z]{3}[.!?] [A-Z]")
_CLOSING_MARKS = CLOSERS + "\"'“«» "

WORDS_OF_HEADING, HEADING_LENGTH = 12, 100
_JOINING = word_set("a an and as at by for from in of on or the to with is are was were de la le du des und der die")
_STARTERS = word_lists("abbreviations")["starters"]


Part = tuple[str, str]  # what a block is, and its text, as readers of files give them


class Block(NamedTuple):
    """A stretch of text whose line ends are only spaces, `text[start:end]`, and which of `BLOCK_KINDS` it is."""

    start: int
    end: int
    kind: str = "paragraph"


def join_blocks(parts: Iterable[Part]) -> tuple[str, tuple[Block, ...]]:
    """The text that blocks make, and where each stands in it.

    Each is on one line unless it is code, without the white space around it; an empty one is no block. Blank lines
    stand between blocks, and `BLOCK_MARKS` before some; these are no part of the blocks.

    Examples
    --------
    >>> join_blocks([("heading", "Rain"), ("paragraph", "It rained\\n all day.")])[0]
    '# Rain\\n\\nIt rained all day.'
    """
    texts, blocks, size = list[str](), list[Block](), 0
    for kind, text in parts:
        text = text.strip(BLANK) if check_kind(kind) == "code" else " ".join(text.split()).strip(UNSEEN + " ")
        if text:
            before = ("\n\n" if texts else "") + BLOCK_MARKS.get(kind, "")
            start, size = size + len(before), size + len(before) + len(text)
            texts += (before, text)
            blocks.append(Block(start, size, kind))
    return "".join(texts), tuple(blocks)


def check_kind(kind: str) -> str:
    """One of `BLOCK_KINDS`."""
    if kind not in BLOCK_KINDS:
        raise ValueError(f"kind of a block must be one of {', '.join(BLOCK_KINDS)}; found {kind!r}.")
    return kind


def check_blocks(blocks: Iterable[Block], text: str) -> tuple[Block, ...]:
    """Blocks of known kinds that lie in the text, in order and without overlap."""
    checked, before = [], 0
    for fields in blocks:
        block = Block(*fields)
        check_kind(block.kind)
        if not before <= block.start <= block.end <= len(text):
            raise ValueError(
                f"blocks must be in order and within the text of {len(text)} characters, "
                f"but ({block.start}, {block.end}) follows {before}."
            )
        checked.append(block)
        before = block.end
    return tuple(checked)


class _Line(NamedTuple):
    """A line that is not blank, without the white space around it."""

    start: int  # of what can be seen
    text: str
    bullet: int  # offset after the list marker, or start
    hashes: int  # offset after Markdown's heading marks, or start
    closed: bool  # ends as a sentence does

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def first(self) -> int:
        """Length of the first word."""
        return len(self.text[:64].split(None, 1)[0])

    @property
    def joins(self) -> bool:
        """Whether the last word, such as "the", goes on in the next line."""
        return self.text.rsplit(None, 1)[-1].lower() in _JOINING

    def leaves_room_for(self, below: _Line, width: float) -> bool:
        """Whether the first word of the line below would have fitted."""
        return len(self.text) + 1 + below.first <= width


def find_blocks(text: str) -> list[Block]:
    """Cut a text where lines end something.

    A blank line always does. So do a heading and the next list item. Any other line end is a hard wrap, that is a
    space, unless the text is written with one sentence per line (`one_per_line`). In chats and transcripts a turn
    begins a block, after its label, which is a byline; what the program says is a banner (`find_turns`).
    """
    lines, heads, position, blank = list[tuple[str, int]](), list[bool](), 0, True
    for raw in text.splitlines(keepends=True):
        if seen := _TAGS.sub("", raw.strip(BLANK)):
            lines.append((seen, position + raw.rindex(seen)))
            heads.append(blank)
        blank = not seen
        position += len(raw)
    turns = find_turns([seen for seen, _ in lines], heads)
    parts: list[list[_Line] | Block] = []  # paragraphs, cut before every turn, and the labels between them
    for (seen, start), head, turn in zip(lines, heads, turns, strict=True):
        if turn is not None:
            parts.append(_label(seen, start, turn))
            seen, start = seen[turn.begin :], start + turn.begin
        if seen:
            above = parts[-1] if parts and not head else None
            if isinstance(above, list):
                above.append(_line(seen, start))
            else:
                parts.append([_line(seen, start)])
    groups = [part for part in parts if isinstance(part, list)]
    wrapped = any(len(lines) > 1 for lines in groups)  # else no width matters
    broken, width = (one_per_line(groups), _width(groups)) if wrapped else (False, 0)
    blocks: list[Block] = []
    spoken = False
    for part in parts:
        cut = [part] if isinstance(part, Block) else _cut_paragraph(part, broken, 0 if broken else width)
        spoken = spoken or isinstance(part, Block)
        blocks += [_in_talk(text, block, spoken) for block in cut] if any(turns) else cut
    return blocks


def _in_talk(text: str, block: Block, spoken: bool) -> Block:
    """A block of a conversation: nothing that is said is a heading; an open line above it says what, when and who."""
    if spoken:
        return block._replace(kind="paragraph") if block.kind == "heading" else block
    is_open = block.kind == "paragraph" and not is_closed(text[block.start : block.end])
    return block._replace(kind="byline") if is_open else block


def _label(text: str, start: int, turn: Turn) -> Block:
    """The label before the words of a turn, as a block."""
    return Block(start, start + len(text[: turn.begin].rstrip(BLANK)), turn.label)


def with_turns(text: str, blocks: Iterable[Block]) -> list[Block]:
    """Blocks that a reader found, with the labels of turns set apart, where paragraphs are those of a conversation."""
    blocks = list(blocks)
    lines = [text[start:end] for start, end, kind in blocks if kind in RUNNING]
    turns, parted = iter(find_turns(lines, [True] * len(lines))), list[Block]()
    for block in blocks:
        turn = next(turns) if block.kind in RUNNING else None
        if turn is not None:
            parted.append(_label(text[block.start : block.end], block.start, turn))
            block = block._replace(start=block.start + turn.begin)
        if turn is None or block.start < block.end:
            parted.append(block)
    return parted


def _line(line: str, start: int) -> _Line:
    bullet = hashes = start
    if not line[0].isalpha() or line[1:2] == ")":  # few lines: no mark begins with another letter
        bullet, hashes = (start + (match.end() if (match := form.match(line)) else 0) for form in (_LIST_MARK, _HASHES))
    return _Line(start, line, bullet, hashes, is_closed(line))


def is_closed(line: str) -> bool:
    """Whether a line ends with a stop, closing quotes and brackets aside."""
    if line.endswith((".", "!", "?")):
        return True
    tail = line[-80:]
    if tail.endswith("]"):
        tail = NOTE.sub("", tail)
    tail = tail[-12:].rstrip(_CLOSING_MARKS)
    if not tail:
        return False
    return tail[-1] in STOPS or (tail[-1] in ";|" and tail[:-1].rstrip()[-1:] > "\u0370")


def one_per_line(paragraphs: list[list[_Line]]) -> bool:
    """Whether line ends are breaks.

    They are when three lines in five end with a stop. They are too when most lines are too short to have been
    wrapped: a wrap comes where the next word did not fit. Then nearly every line must also begin as sentences do. And
    they are when nearly every line begins with a capital, as of wrapped lines only some do.
    """
    pairs = [pair for lines in paragraphs for pair in pairwise(lines)]
    n, width = len(pairs), _width(paragraphs)
    loose = sum(above.leaves_room_for(below, width) for above, below in pairs)
    opening = sum(not below.text[0].islower() for _, below in pairs)
    capital = sum(below.text[0].isupper() and not below.text.isupper() for _, below in pairs)
    return n > 0 and (
        sum(above.closed for above, _ in pairs) >= 0.6 * n
        or (n >= 5 and capital >= 0.9 * n)
        or (n >= 3 and loose > 0.5 * n and opening >= 0.8 * n)
    )


def _width(paragraphs: Iterable[list[_Line]]) -> int:
    """About where lines are wrapped; where paragraphs are longer lines than those under each other, none are."""
    groups = list(paragraphs)
    lengths = [[len(line.text) for lines in groups if len(lines) > least for line in lines] for least in (0, 1)]
    return max(sorted(sizes)[round(0.9 * (len(sizes) - 1))] if sizes else 0 for sizes in lengths)


def _cut_paragraph(lines: list[_Line], broken: bool, width: int) -> list[Block]:
    """The blocks of one paragraph."""
    blocks: list[Block] = []
    begin, item = 0, lines[0].bullet > lines[0].start and not _is_ordinal(lines)  # of the block at hand
    longest = max(len(line.text) for line in lines)
    for i, line in enumerate(lines[1:], 1):
        above = lines[i - 1]
        listed = line.bullet > line.start and (
            item
            or above.closed
            or above.text[-1] in ":;"
            or line.text[0] in "•‣◦▪●·*"
            or (line.text[0] == "(" and line.text[line.bullet - line.start].isupper())
        )
        goes_on = line.text[0].islower() or (above.joins and not above.leaves_room_for(line, longest))
        if (
            listed
            or _is_row(lines, i)
            or _is_row(lines, i - 1)
            or "|" in (line.text[0], above.text[0])
            or line.hashes > line.start
            or _RULER.match(line.text)
            or (i - begin == 1 and (_stands_alone(above, line, width) or (i == 1 and _is_numbered_heading(lines))))
            or (not (goes_on and not above.closed) and (broken or _is_broken_off(above, line, width)))
        ):
            blocks.append(_block_of(lines, begin, i, item, width))
            begin, item = i, listed
    return [*blocks, _block_of(lines, begin, len(lines), item, width)]


def _block_of(lines: list[_Line], begin: int, stop: int, item: bool, width: int) -> Block:
    """The block of some lines of a paragraph, without the marks before it."""
    first, alone, opening = lines[begin], stop - begin == 1, lines[begin].text[:2]
    numbered = not begin and len(lines) > 1 and _is_numbered_heading(lines)
    start, kind = first.start, "paragraph"
    if alone and len(lines) > 1 and _is_row(lines, begin):
        kind = "row"
    elif alone and (first.hashes > first.start or numbered):
        start, kind = max(first.hashes, first.bullet), "heading"
    elif item:
        start, kind = first.bullet, "item"
    elif alone:
        kind = _kind_alone(lines, begin, width)
    if opening in (BLOCK_MARKS["row"], "|-", "|:", "||"):
        start, kind = start + 2, "row"
    elif opening == BLOCK_MARKS["quotation"] and len(first.text) > 2:
        start, kind = start + 2, "quotation"
    return Block(start, lines[stop - 1].end, kind)


def _is_row(lines: list[_Line], i: int) -> bool:
    """Whether a line has cells between separators, as many as the line above or under it."""
    for sign in _CELLS:
        n = lines[i].text.count(sign)
        if n >= 2 and any(lines[j].text.count(sign) == n for j in (i - 1, i + 1) if 0 <= j < len(lines)):
            return n >= 3 or sign != ";"
    return False


def _is_ordinal(lines: list[_Line]) -> bool:
    """Whether the number at the head of a paragraph is an ordinal, as in "29. prosince 2004", and marks no list."""
    first = lines[0]
    marker, rest = first.text[: first.bullet - first.start], first.text[first.bullet - first.start :]
    listed = len(lines) > 1 and lines[1].bullet > lines[1].start
    return marker[0].isdigit() and "." in marker and rest[0].islower() and not listed


def _is_numbered_heading(lines: list[_Line]) -> bool:
    """Whether a paragraph begins with the number and name of a section, "4. Waiting list", and its text follows."""
    line, rest = lines[0], lines[1:]
    if line.bullet == line.start or not _DIGIT.search(line.text[: line.bullet - line.start]):
        return False
    listed = any(other.bullet > other.start and other.text[0].isdigit() for other in rest)
    short = len(line.text) <= 60 and len(line.text.split()) <= 9 and not line.closed and line.text[-1] not in ",;:-–—"
    return short and not listed and not rest[0].text[0].islower() and any(other.closed for other in rest)


def _is_broken_off(line: _Line, below: _Line, width: int) -> bool:
    """Whether a line ends where its writer ended it: the next word, that may begin a sentence, had room enough."""
    if not line.leaves_room_for(below, 0.75 * width) or line.text[-1] in ",;-–—":
        return False
    if line.text.isupper() and below.text.isupper():
        return False  # where all is in capitals, they begin nothing
    return not below.text[0].islower() and not line.joins


def _stands_alone(line: _Line, below: _Line, width: int) -> bool:
    """Whether the first line of a block is a heading with its text right under it."""
    if line.hashes > line.start or _RULER.match(line.text) or _RULER.match(below.text):
        return True
    words, size = line.text.split()[: WORDS_OF_HEADING + 1], len(line.text)
    if line.closed or len(words) > 8 or size > 60 or line.text[-1] in ",;:-–—" or below.text[0].islower() or line.joins:
        return False
    capital = line.text[0].isupper()
    if below.text[: below.first].lower() in _STARTERS and capital and _is_broken_off(line, below, width):
        return True
    if not line.leaves_room_for(below, len(below.text)):
        return False  # a wrap
    if line.text.isupper():
        return not below.text.isupper()
    if 2 * size < len(below.text) and below.text[0].isupper() and capital:
        return True  # a wrap would have left less of the line empty
    return len(words) <= 2 or all(word[0].isupper() or word.lower() in _JOINING for word in words)


def _kind_alone(lines: list[_Line], i: int, width: int) -> str:
    """The kind of a block of one line: a heading says what follows, a byline when the text was written."""
    text = lines[i].text
    if len(lines) > 1 and not (i + 1 < len(lines) and _stands_alone(lines[i], lines[i + 1], width)):
        return "paragraph"
    if date_line(text):
        return "byline"
    words = text[: HEADING_LENGTH + 1].split()
    short = len(text) <= (HEADING_LENGTH if len(words) > 1 else HEADING_LENGTH // 3) and len(words) <= WORDS_OF_HEADING
    # "Two men died. Three lived": sentences, whatever the last one ends in
    plain = lines[i].closed or text[-1] in ':,;"”' or _INNER_END.search(text)
    return "heading" if short and not plain else "paragraph"


def is_title(text: str, below: str = "") -> bool:
    """Whether the first line of a file reads like a title: short, not closed as a sentence is, and apart.

    Examples
    --------
    >>> is_title("Ferry service to resume"), is_title("The ferry sails."), is_title("Why the ferry sank?")
    (True, False, True)
    >>> is_title("The ferry", below="sails on Monday"), is_title("The ferry", below="8 May 2004")
    (False, True)
    """
    short = 0 < len(text) <= 150 and len(text.split()) <= 25
    return short and (not is_closed(text) or text[-1] in "?!") and (not below or date_line(below) is not None)
