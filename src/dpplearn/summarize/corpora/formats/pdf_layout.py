"""Blocks of PDF pages from the places of their words: columns by the white between them, then lines, then paragraphs.

Headers, footers and page numbers are left out. Distances are in type sizes unless a comment says points.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from dpplearn.summarize.corpora.formats.hyphens import Hyphens
from dpplearn.summarize.text.blocks import Part, is_closed

LEAST_WHITE = 0.38  # the least white between columns, about a character's width
GAP, CELL = 0.9, 1.6  # white that divides the cells of a table, and the least that tells one
TALL = 3.0  # from one baseline to the next: more than in a paragraph or at a heading
NEAR = 2.0  # points by which the lines of a column may begin apart
COLUMN_LINES, SURE_LINES = 6, 10  # lines beside the white that make a column, and those that make one for all pages
PAGE_SHARE = 3  # one page in so many must have a sure column at a place for other pages to have it there, too
MOST_PLACES = 12  # the commonest places that are tried as the left edge of a column
PROSE = 3  # words that a line of a column has on average: cells of tables have fewer
EDGE = 3  # lines at the top and at the foot of a page that may be headers and footers
HEADING_LINES, HEADING_WORDS = 3, 20
LARGE, SMALL = 1.1, 0.93  # times the size of the body: headings, notes
_PAGE_NUMBER = re.compile(
    r"[\W_]*(?:(?:page|seite|p|s|página|pagina)\.?\s*)?(?:[0-9]{1,4}|[ivxlcIVXLC]{1,7})"
    r"(?:\s*(?:of|/|von|sur|de|di|\|)\s*[0-9]{1,4})?[\W_]*",
    re.IGNORECASE,
)
_NUMBER_AT_END = re.compile(r"^([0-9]{1,4})\b|\b([0-9]{1,4})$")
_BULLETS = "•‣◦▪●■○∙"
_BULLET = re.compile(rf"(?:[{_BULLETS}·*–—-]|\(?[0-9]{{1,2}}[.)]|\([a-z]\)|\([ivx]{{1,4}}\))\s+(?=\S)")
_CAPTION = re.compile(
    r"(?:Fig(?:ure|\.)?|Table|Tab\.|Listing|Algorithm|Scheme|Plate|Abb(?:ildung|\.)|Tabelle|Tableau|Figura|Tabla|"
    r"Tabella|图|表|図)\s?[A-Z]?[0-9]{1,3}(?:\.[0-9]{1,2})?\s?(?:[.:|–—]|$)"
    r"|.*\b(?:Picture|Photo|Photograph|Image|Credit|Foto|Bild|Photographie)s?\s?:\s[^.!?:]{2,60}$",
    re.IGNORECASE,
)
_LIST_HEADINGS = re.compile(
    r"(?:[0-9]{1,2}\.?\s+|[IVX]{1,4}\.\s+)?(?:references?(?: cited| and notes)?|bibliography|literature(?: cited)?|"
    r"works cited|literatur(?:verzeichnis|angaben)?|quellen(?:verzeichnis)?|références|bibliographie|"
    r"referencias|bibliografía|bibliografia)",
    re.IGNORECASE,
)
# The address and the time that a browser prints at the edges of a page; and a line of a list of contents.
_PRINTED = re.compile(
    r"(?:.{0,120}\s)?https?://\S+(?:\s+(?:page )?[0-9]{1,3}\s?(?:/|of)\s?[0-9]{1,3})?$"
    r"|[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{2,4},?\s+[0-9]{1,2}[:.][0-9]{2}\b.{0,160}$"
    r"|.{0,300}?(?:\s?\.){5,}\s*[0-9ivxl]{1,5}$",
    re.IGNORECASE,
)
_ABSTRACT = re.compile(r"(?:abstract|summary|zusammenfassung|résumé|resumen)\W*$", re.IGNORECASE)
_LONG_WORD = re.compile(r"[^\W\d_]{3,}")
_NOTE_START = re.compile(r"[0-9*†‡§¶]{1,3}\s?\S")


class Word(NamedTuple):
    """A word on a page."""

    text: str
    x0: float
    x1: float
    base: float  # its baseline; larger further down
    size: float  # of the type
    bold: bool


Row = list[Word]


class Line(NamedTuple):
    """A line of a column, or a row of a table in one."""

    cells: list[Row]
    text: str
    size: float  # of most of its characters
    bold: bool
    page: int
    column: int  # counted through the document
    left: float  # where the column begins and ends
    right: float
    x0: float  # where the line does
    x1: float
    base: float


# White between columns: lines in the shorter one, where the right one begins, and the first and last rows beside it
Gutter = tuple[int, float, int, int]


class Group:
    """Lines that make a block, and its kind."""

    def __init__(self, lines: list[Line]) -> None:
        self.lines, self.kind = lines, ""
        self.text = " ".join(line.text for line in lines)
        self.size = max(lines, key=lambda line: len(line.text)).size
        self.bold = all(line.bold for line in lines)


def page_blocks(pages: list[list[Word]], title: str | None = None) -> tuple[list[Part], str | None]:
    """The blocks of a document without its title, and the title: the one given, or the first page's largest heading."""
    lines = lines_of(pages)
    if not lines:
        return [], title
    hyphens, groups = Hyphens(line.text for line in lines), groups_of(lines)
    body = usual_size((line.size, line.text) for line in lines)
    name_kinds(groups, body)
    if heading := title_heading(groups, body, title):
        groups.remove(heading)
        title = title or hyphens.join(line.text for line in heading.lines)
    name_front_and_references(groups, front=title is not None)
    parts = list[Part]()
    for group in joined_over_columns(groups):
        if group.kind == "row":
            parts += [("row", " | ".join(map(text_of, line.cells))) for line in group.lines]
        else:
            text = hyphens.join(line.text for line in group.lines)
            parts.append((group.kind, _BULLET.sub("", text, count=1) if group.kind == "item" else text))
    return parts, title


def text_of(row: Row) -> str:
    """Words as a text."""
    return " ".join(word.text for word in row)


def usual_size(sized: Iterable[tuple[float, str]]) -> float:
    """The type size that most characters of some texts have."""
    lengths: Counter[float] = Counter()
    for size, text in sized:
        lengths[size] += len(text)
    return max(lengths, key=lambda size: lengths[size])


def lines_of(pages: list[list[Word]]) -> list[Line]:
    """All lines of a document, in the order in which they are read."""
    pages_of_rows = without_edges([rows_of(words) for words in pages])
    sure = Counter(x for rows in pages_of_rows for x in columns(rows, frozenset())[1])
    known = frozenset(x for x, times in sure.items() if PAGE_SHARE * times >= len(pages))
    in_order = [(page, column) for page, rows in enumerate(pages_of_rows) for column in columns(rows, known)[0]]
    return [line for number, (page, column) in enumerate(in_order) for line in column_lines(column, page, number)]


def rows_of(words: Iterable[Word]) -> list[Row]:
    """Rows of words with one baseline, from the top of the page, each from the left."""
    rows: list[Row] = []
    for word in sorted(words, key=lambda word: word.base):
        if rows and word.base - rows[-1][0].base <= 0.35 * min(word.size, rows[-1][0].size):
            rows[-1].append(word)
        else:
            rows.append([word])
    return [sorted(row, key=lambda word: word.x0) for row in rows]


def cells_of(row: Row, gap: float) -> list[Row]:
    """The words of a row between gaps of so many type sizes."""
    cells = [row[:1]]
    for left, right in pairwise(row):
        if right.x0 - left.x1 > gap * max(left.size, right.size):
            cells.append([])
        cells[-1].append(right)
    return cells


def without_edges(pages: list[list[Row]]) -> list[list[Row]]:
    """The rows of pages without headers and footers: lone numbers, what repeats but for digits, what counts pages."""
    times: Counter[tuple[bool, str | int]] = Counter()
    edges: list[dict[int, set[tuple[bool, str | int]]]] = []
    for number, rows in enumerate(pages):
        half = min(EDGE, (len(rows) + 1) // 2)
        edges.append({})
        for at in {*range(half), *range(len(rows) - half, len(rows))}:
            text, top = text_of(rows[at]), at < half
            repeated = "" if _PAGE_NUMBER.fullmatch(text) else re.sub("[0-9]+", "#", text) + f" {rows[at][0].base:.0f}"
            counted = [int(match[1] or match[2]) - number for match in _NUMBER_AT_END.finditer(text)]
            marks: list[str | int] = [repeated, *counted] if len(text) <= 100 else [repeated]
            edges[-1][at] = {(top, mark) for mark in marks}
            times.update(edges[-1][at])
    least = {str: max(2, 0.4 * len(pages)), int: max(3, 0.5 * len(pages))}
    dropped = {mark for mark, n in times.items() if mark[1] == "" or n >= least[type(mark[1])]}
    return [
        [row for at, row in enumerate(rows) if dropped.isdisjoint(marks.get(at, ()))]
        for rows, marks in zip(pages, edges, strict=True)
    ]


def columns(rows: list[Row], known: frozenset[float]) -> tuple[list[list[Row]], list[float]]:
    """The columns of a page in reading order, and where those begin that have many lines.

    A page is cut into what is above the longest gutter, left of it, right of it, and below, again and again. Where
    columns are `known` to begin on other pages, few lines make one.
    """
    in_order, sure, left = list[list[Row]](), list[float](), [rows]
    while left:
        rows = left.pop()
        if gutter := find_gutter(rows, known):
            lines, x, first, last = gutter
            sure += [x] * (lines >= SURE_LINES)
            inside = [word for row in rows[first : last + 1] for word in row]
            sides = [rows_of(word for word in inside if (word.x0 < x - NEAR) == side) for side in (False, True)]
            left += [part for part in (rows[last + 1 :], *sides, rows[:first]) if part]
        elif rows:
            in_order.append(rows)
    return in_order, sure


def find_gutter(rows: list[Row], known: frozenset[float]) -> Gutter | None:
    """The gutter with most lines beside it; None where there is one column.

    A column begins where many words do after white, and no word of some rows stands across that place.
    """
    begins: Counter[float] = Counter()
    for row in rows:
        gaps = ((after.x0, after.x0 - before.x1 >= LEAST_WHITE * after.size) for before, after in pairwise(row))
        begins.update(float(round(x)) for x, wide in gaps if wide)
    places = {x for x, _ in begins.most_common(MOST_PLACES)} | known
    return max((gutter for x in places for gutter in gutters_at(rows, x, known)), default=None)


def gutters_at(rows: list[Row], x: float, known: frozenset[float]) -> Iterator[Gutter]:
    """The stretches of rows in which a column of prose, or a known one, may begin at a place."""
    first, lines, words = 0, [0, 0], [0, 0]
    for at, row in enumerate([*rows, None]):
        sides = None if row is None else beside(row, x)
        apart = at > first and row and row[0].base - rows[at - 1][0].base > TALL * row[0].size
        if sides is None or apart:
            prose = all(n >= PROSE * m for n, m in zip(words, lines, strict=True))
            if (prose and min(lines) >= COLUMN_LINES) or (min(lines) and x in known):
                yield min(lines), x, first, at - 1
            first, lines, words = at + (sides is None), [0, 0], [0, 0]
        for side, n in enumerate(sides or ()):
            lines[side] += n > 0
            words[side] += n


def beside(row: Row, x: float) -> tuple[int, int] | None:
    """How many words stand together left and right of a place; None where a word stands across, or too near."""
    at = next((i for i, word in enumerate(row) if word.x0 >= x - NEAR), len(row))
    if at and max(word.x1 for word in row[:at]) > x - LEAST_WHITE * row[at - 1].size:
        return None
    return len(cells_of(row[:at], GAP)[-1]), len(cells_of(row[at:], GAP)[0])


def column_lines(rows: list[Row], page: int, number: int) -> Iterator[Line]:
    """The lines of a column, cut into cells where the line above or below has some, too."""
    left, right = min(row[0].x0 for row in rows), max(word.x1 for row in rows for word in row)
    for row in rows:
        size = usual_size((round(word.size, 1), word.text) for word in row)
        bold = all(word.bold for word in row if word.text[0].isalnum())
        gaps = [after.x0 - before.x1 for before, after in pairwise(row)]
        # a justified line is set wide to end where the column does, and its spaces are all alike
        wide = len(cells_of(row, CELL)) > 1 and (row[-1].x1 <= right - row[-1].size or max(gaps) >= 1.4 * min(gaps))
        cells = cells_of(row, GAP) if wide else [row]
        yield Line(cells, text_of(row), size, bold, page, number, left, right, row[0].x0, row[-1].x1, row[0].base)


def groups_of(lines: list[Line]) -> list[Group]:
    """Lines that belong together, by type, indents and the gaps between them.

    Lines of one paragraph are as far apart as the lower quarter of all: paragraphs may have but a line or two each.
    """
    pairs = [(above, below) for above, below in pairwise(lines) if above.column == below.column]
    gaps = sorted((below.base - above.base) / above.size for above, below in pairs if above.size == below.size)
    gaps = [gap for gap in gaps if 0 < gap < TALL]
    leading, groups = gaps[len(gaps) // 4] if len(gaps) >= 8 else 1.2, [lines[:1]]
    for above, below in pairwise(lines):
        if begins_group(groups[-1][0], above, below, leading):
            groups.append([])
        groups[-1].append(below)
    return [*map(Group, groups)]


def begins_group(first: Line, above: Line, below: Line, leading: float) -> bool:
    """Whether a line begins something new, below others of which this is the first."""
    if len(below.cells) > 1 or len(above.cells) > 1:
        return (len(below.cells) > 1) != (len(above.cells) > 1)
    size, item, closed = above.size, bool(_BULLET.match(first.text)), is_closed(above.text) or above.text[-1] == ":"
    if abs(below.size - size) > 0.08 * size or above.bold != below.bold:
        return True
    if below.column != above.column:
        return not leads_on(above, below)
    if not 0 < below.base - above.base <= 1.3 * leading * size:
        return True
    if _BULLET.match(below.text) and (item or closed or below.text[0] in _BULLETS):
        return True
    if closed and above.x1 < above.right - 0.22 * (above.right - above.left) and not above.bold:
        return True
    indented = below.x0 > max(below.left, above.x0) + 0.7 * size and len(below.text.split()) > 1
    return indented and not item and (closed or above.x1 < above.right - 2 * size)


def leads_on(above: Line, below: Line) -> bool:
    """Whether a sentence that begins in the last line of a column goes on in the first line of another."""
    full = above.x1 > above.right - 0.15 * (above.right - above.left) and above.text[-1] != ":"
    return not is_closed(above.text) and (below.text[0].islower() or (full and not _BULLET.match(below.text)))


def name_kinds(groups: list[Group], body: float) -> None:
    """Say of each group what it is by itself."""
    n_bold = sum(len(group.text) for group in groups if group.bold)
    bold_is_rare = n_bold < 0.5 * sum(len(group.text) for group in groups)
    for group in groups:
        text, few = group.text, len(group.lines) <= HEADING_LINES
        bold = bold_is_rare and group.bold and group.size >= SMALL * body and not text.endswith((".", ",", ";"))
        short = few and len(text.split()) <= HEADING_WORDS and _LONG_WORD.search(text)
        if len(group.lines[0].cells) > 1:
            group.kind = "row"
        elif _CAPTION.match(text if few else text[:20]):
            group.kind = "caption"
        elif all(_PRINTED.match(line.text) for line in group.lines):
            group.kind = "navigation"
        elif short and (bold or group.size >= LARGE * body or _ABSTRACT.match(text)):
            group.kind = "heading"
        elif group.size < SMALL * body and _NOTE_START.match(text):
            group.kind = "footnote"
        else:
            group.kind = "item" if _BULLET.match(text) else "paragraph"


def title_heading(groups: list[Group], body: float, title: str | None) -> Group | None:
    """The heading on the first page that is the title: the one that says it, or else the largest."""
    heads = [x for x in groups if x.kind == "heading" and x.lines[0].page == groups[0].lines[0].page]
    if title is not None:
        return next((head for head in heads if _letters(head.text) == _letters(title)), None)
    largest = max(heads, key=lambda head: head.size, default=None)
    least = (1.3 if largest in heads[2:] else 1.15) * body
    return largest if largest and largest.size >= least else None


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def name_front_and_references(groups: list[Group], front: bool) -> None:
    """Find bylines between the title and the first heading, and the entries of a bibliography under its heading."""
    references: float | None = None  # the size of the heading over them
    for group in groups:
        if group.kind == "heading":
            front = False
            if _LIST_HEADINGS.fullmatch(group.text.strip(" .:")):
                references = group.size
            elif references is not None and group.size >= 0.95 * references:
                references = None
        elif references is not None and group.kind in ("paragraph", "item", "footnote", "row"):
            group.kind = "reference"
        elif front and group.kind in ("paragraph", "row"):
            front = len(group.text.split()) <= 40 and group.lines[0].page == 0
            if front and (not is_closed(group.text) or "@" in group.text):
                group.kind = "byline"


def joined_over_columns(groups: list[Group]) -> list[Group]:
    """Join a paragraph to its rest in the next column, past what is set at the head or foot of it."""
    joined: list[Group] = []
    open_group: Group | None = None
    for group in groups:
        if group.kind not in ("caption", "row", "footnote", "navigation"):
            if (
                open_group is not None
                and group.kind == "paragraph"
                and abs(group.size - open_group.size) <= 0.08 * open_group.size
            ):
                above, below = open_group.lines[-1], group.lines[0]
                if below.column != above.column and leads_on(above, below):
                    open_group.lines = open_group.lines + group.lines
                    continue
            open_group = group if group.kind in ("paragraph", "item") else None
        joined.append(group)
    return joined
