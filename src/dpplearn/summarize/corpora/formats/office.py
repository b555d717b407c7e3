"""What Word and OpenDocument files share: paragraphs out of a stream of tags, rows of tables, the title they name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Protocol

from dpplearn.summarize.corpora.formats.packages import Package
from dpplearn.summarize.corpora.formats.xml import Tag, tags

Blocks = list[tuple[str, str]]  # kinds and texts


class TagReader(Protocol):
    """Makes blocks of tags and texts, one after another."""

    def start(self, tag: Tag) -> None: ...

    def add(self, text: str) -> None: ...

    def end(self, name: str) -> Blocks: ...


def blocks(opened: Iterable[Tag], reader: TagReader, left_out: Set[str]) -> Iterator[tuple[str, str]]:
    """What a reader makes of tags, without the elements of some names and all that is in them."""
    dropped = 0
    for tag in opened:
        if tag.event != "text" and tag.name in left_out:
            dropped += 1 if tag.event == "open" else -1
        elif dropped:
            continue
        elif tag.event == "text":
            reader.add(tag.name)
        elif tag.event == "open":
            reader.start(tag)
        else:
            yield from reader.end(tag.name)


class Tables:
    """The open tables, one in a cell of another."""

    def __init__(self) -> None:
        self.rows: list[list[list[str]]] = []  # of each table, the cells of its row, each of paragraphs

    def open(self) -> None:
        self.rows.append([])

    def close(self) -> None:
        if self.rows:
            self.rows.pop()

    def open_cell(self) -> None:
        if self.rows:
            self.rows[-1].append([])

    def takes(self, text: str) -> bool:
        """Put a paragraph into the cell that is open, if one is."""
        inside = bool(self.rows and self.rows[-1])
        if inside:
            self.rows[-1][-1].append(text)
        return inside

    def close_row(self) -> Blocks:
        """The row; nothing where its table stands in a cell, which then has it."""
        if not self.rows:
            return []
        cells, self.rows[-1] = self.rows[-1], []
        made = row_blocks(cells)
        if len(self.rows) > 1 and self.rows[-2]:
            self.rows[-2][-1] += [text for _, text in made]
            return []
        return made


def row_blocks(cells: list[list[str]]) -> Blocks:
    """A row of a table; where it has one cell, that is a frame around paragraphs.

    Examples
    --------
    >>> row_blocks([["May"], ["3 mm", "of rain"]]), row_blocks([["It rained.", "It poured."]])
    ([('row', 'May | 3 mm of rain')], [('paragraph', 'It rained.'), ('paragraph', 'It poured.')])
    """
    if len(cells) == 1:
        return [("paragraph", text) for text in cells[0]]
    texts = (" ".join(" ".join(cell).split()) for cell in cells)
    return [("row", " | ".join(text for text in texts if text))]


def core_title(package: Package, part: str) -> str | None:
    """The title that the file's properties give."""
    inside = False
    for tag in tags(package.optional(part) or b"<x/>", package.place):
        if tag.event == "text":
            if inside and tag.name.strip():
                return " ".join(tag.name.split())
        elif tag.name == "title":
            inside = tag.event == "open"
    return None
