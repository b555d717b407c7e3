"""Blocks: what each stretch of a text is. Given by whoever read the file, or found in its lines (`lines`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dpplearn.summarize.text.characters import BLANK, UNSEEN

# All that a block can be. Running text is what sentences of a summary are taken from.
RUNNING = ("paragraph", "item", "quotation")
_MARGINAL = ("footnote", "formula", "reference")
BLOCK_KINDS = (*RUNNING, "heading", "caption", "row", "code", "byline", "navigation", "banner", *_MARGINAL)
OUTSIDE = ("navigation", "banner")  # no part of the story, nor is anything inside
WHOLE = ("heading", "row", "code")  # not cut into sentences
# How a block of its kind begins in plain text, so that a text that lost its blocks is still read as what it was.
BLOCK_MARKS = {"heading": "# ", "item": "- ", "quotation": "> ", "row": "| "}


class Block(NamedTuple):
    """A stretch of text whose line ends are only spaces, `text[start:end]`, and which of `BLOCK_KINDS` it is."""

    start: int
    end: int
    kind: str = "paragraph"


class BlockText:
    """A text that is made block by block, as readers of files do.

    Blank lines stand between blocks, and `BLOCK_MARKS` before some; these are no part of the blocks.

    Examples
    --------
    >>> made = BlockText()
    >>> made.add("heading", "Rain")
    >>> made.add("paragraph", "It rained\\n all day.")
    >>> made.text, made.blocks[1]
    ('# Rain\\n\\nIt rained all day.', Block(start=8, end=26, kind='paragraph'))
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._blocks: list[Block] = []
        self._size = 0

    def add(self, kind: str, text: str) -> None:
        """Add a block, without the white space around it, on one line unless it is code; an empty one is no block."""
        check_kind(kind)
        text = text.strip(BLANK) if kind == "code" else " ".join(text.split()).strip(UNSEEN + " ")
        if not text:
            return
        before = ("\n\n" if self._parts else "") + BLOCK_MARKS.get(kind, "")
        start = self._size + len(before)
        self._parts += (before, text)
        self._size = start + len(text)
        self._blocks.append(Block(start, self._size, kind))

    def extend(self, other: BlockText) -> None:
        """Add the blocks of another text."""
        for start, end, kind in other.blocks:
            self.add(kind, other.text[start:end])

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(self._blocks)


def check_kind(kind: str) -> str:
    """One of `BLOCK_KINDS`."""
    if kind not in BLOCK_KINDS:
        raise ValueError(f"kind of a block must be one of {', '.join(BLOCK_KINDS)}; found {kind!r}.")
    return kind


def check_blocks(blocks: Iterable[Block], text: str) -> tuple[Block, ...]:
    """Blocks of known kinds that lie in the text, in order and without overlap."""
    checked, before = [], 0
    for given in blocks:
        block = Block(*given)
        check_kind(block.kind)
        if not before <= block.start <= block.end <= len(text):
            raise ValueError(
                f"blocks must be in order and within the text of {len(text)} characters, "
                f"but ({block.start}, {block.end}) follows {before}."
            )
        checked.append(block)
        before = block.end
    return tuple(checked)
