"""Lines of PDF pages in reading order: pages are cut at the white between columns; headers and footers are left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

LEAST_WHITE = 0.38  # times the type size: the least white between columns, about a character's width
GAP, CELL = 0.9, 1.6  # times the type size: white that divides the cells of a table, and the least that tells one
LINE, TALL = 1.5, 3.0  # times the type size from one line to the next: more than in a paragraph, more than at a heading
NEAR = 2.0  # points by which the lines of a column may begin apart
LEAST_LINES, SURELY_WHITE = 6, 10  # lines beside the white that tell columns, and those that tell them for all pages
PAGE_SHARE = 3  # one page in so many must surely have a column there for others to have it, too
MOST_PLACES = 12  # where a column may begin that are looked at, the commonest
PROSE = 3  # words that a line of a column has on average: cells of tables have fewer
EDGE = 3  # lines at the top and at the foot of a page that may be headers and footers
_PAGE_NUMBER = re.compile(
    r"[\W_]*(?:(?:page|seite|p|s|página|pagina)\.?\s*)?(?:[0-9]{1,4}|[ivxlcIVXLC]{1,7})"
    r"(?:\s*(?:of|/|von|sur|de|di|\|)\s*[0-9]{1,4})?[\W_]*",
    re.IGNORECASE,
)
_ENDS = re.compile(r"^([0-9]{1,4})\b|\b([0-9]{1,4})$")


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


class Gutter(NamedTuple):
    """White between columns: where the right one begins, and the first and last rows beside it."""

    lines: int  # in the shorter of the columns
    x: float
    first: int
    last: int


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
    kept = without_edges([rows_of(words) for words in pages])
    sure: list[float] = []  # where columns of many lines begin
    for rows in kept:
        columns(rows, (), sure)
    known = {x for x, times in Counter(sure).items() if PAGE_SHARE * times >= len(pages)}
    found = [(page, column) for page, rows in enumerate(kept) for column in columns(rows, known, [])]
    return [line for number, (page, column) in enumerate(found) for line in column_lines(column, page, number)]


def rows_of(words: Iterable[Word]) -> list[Row]:
    """Words by baseline, from the top; within a row from the left."""
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
    """The rows of pages without lone numbers, and what repeats up to digits or counts pages, at their top or foot."""
    seen: Counter[tuple[bool, str | int]] = Counter()
    edges: list[dict[int, set[tuple[bool, str | int]]]] = []
    for number, rows in enumerate(pages):
        half = min(EDGE, (len(rows) + 1) // 2)
        edges.append({})
        for at in {*range(half), *range(len(rows) - half, len(rows))}:
            text, top = text_of(rows[at]), at < half
            same = re.sub("[0-9]+", "#", text) + f" {rows[at][0].base:.0f}"
            marks: set[tuple[bool, str | int]] = {(top, "" if _PAGE_NUMBER.fullmatch(text) else same)}
            if len(text) <= 100:  # how far a number at one of its ends is from the page's
                marks |= {(top, int(one[1] or one[2]) - number) for one in _ENDS.finditer(text)}
            edges[-1][at] = marks
            seen.update(marks)
    least = {str: max(2, 0.4 * len(pages)), int: max(3, 0.5 * len(pages))}
    dropped = {mark for mark, times in seen.items() if mark[1] == "" or times >= least[type(mark[1])]}
    return [
        [row for at, row in enumerate(rows) if dropped.isdisjoint(own.get(at, ()))]
        for rows, own in zip(pages, edges, strict=True)
    ]


def columns(rows: list[Row], known: Collection[float], sure: list[float]) -> list[list[Row]]:
    """The columns of a page in reading order.

    A page is cut into what is above the longest gutter, left of it, right of it, and below, again and again. Where
    columns are `known` to begin on other pages, few lines tell one; places that are sure are noted.
    """
    found, left = list[list[Row]](), [rows]
    while left:
        rows = left.pop()
        if band := find_gutter(rows, known):
            if band.lines >= SURELY_WHITE:
                sure.append(band.x)
            first, last = band.first, band.last  # what stands apart at the ends, as a title does, is not beside it
            while first < last and 0 in (beside(rows[first], band.x) or ()) and is_apart(rows, first, LINE):
                first += 1
            while first < last and 0 in (beside(rows[last], band.x) or ()) and is_apart(rows, last - 1, LINE):
                last -= 1
            inside = [word for row in rows[first : last + 1] for word in row]
            sides = [rows_of(word for word in inside if (word.x0 < band.x - NEAR) == side) for side in (False, True)]
            left += [part for part in (rows[last + 1 :], *sides, rows[:first]) if part]
        elif rows:
            found.append(rows)
    return found


def find_gutter(rows: list[Row], known: Collection[float]) -> Gutter | None:
    """The gutter with most lines beside it; None where there is one column.

    A column begins where many words do after white, and no word of some rows stands across that place.
    """
    begins: Counter[int] = Counter()
    for row in rows:
        gaps = ((after.x0, after.x0 - before.x1 >= LEAST_WHITE * after.size) for before, after in pairwise(row))
        begins.update(round(x) for x, wide in gaps if wide)
    places = {float(x) for x, _ in begins.most_common(MOST_PLACES)} | {*known}
    return max((gutter for x in places for gutter in gutters_at(rows, x, known)), default=None)


def gutters_at(rows: list[Row], x: float, known: Collection[float]) -> Iterator[Gutter]:
    """The stretches of rows in which a column of prose, or a known one, may begin at a place."""
    first, lines, words = 0, [0, 0], [0, 0]
    for at, row in enumerate([*rows, None]):
        sides = None if row is None else beside(row, x)
        if sides is None or (at > first and is_apart(rows, at - 1, TALL)):
            prose = all(n >= PROSE * m for n, m in zip(words, lines, strict=True))
            if (prose and min(lines) >= LEAST_LINES) or (min(lines) and x in known):
                yield Gutter(min(lines), x, first, at - 1)
            first, lines, words = at + (sides is None), [0, 0], [0, 0]
        for side, n in enumerate(sides or ()):
            lines[side] += n > 0
            words[side] += n


def is_apart(rows: list[Row], at: int, times: float) -> bool:
    """Whether a row is further above the next than so many type sizes."""
    above, below = rows[at][0], rows[at + 1][0]
    return below.base - above.base > times * below.size


def beside(row: Row, x: float) -> tuple[int, int] | None:
    """How many words stand together left and right of a place; None where a word stands across, or too near."""
    at = next((i for i, word in enumerate(row) if word.x0 >= x - NEAR), len(row))
    if at and max(word.x1 for word in row[:at]) > x - LEAST_WHITE * row[at - 1].size:
        return None
    return len(cells_of(row[:at], GAP)[-1]), len(cells_of(row[at:], GAP)[0])


def column_lines(rows: list[Row], page: int, number: int) -> Iterator[Line]:
    """The lines of a column, cut into cells where the line above or below has some, too."""
    left, right = min(row[0].x0 for row in rows), max(word.x1 for row in rows for word in row)
    cut = [cells_of(row, GAP) for row in rows]
    for at, (row, cells) in enumerate(zip(rows, cut, strict=True)):
        near = cut[max(at - 1, 0) : at] + cut[at + 1 : at + 2]
        size = usual_size((round(word.size, 1), word.text) for word in row)
        bold = all(word.bold for word in row if word.text[0].isalnum())
        apart = len(cells_of(row, CELL)) > 1 and not is_stretched(row, right)
        if not (apart and any(len(other) > 1 for other in near)):
            cells = [row]
        yield Line(cells, text_of(row), size, bold, page, number, left, right, row[0].x0, row[-1].x1, row[0].base)


def is_stretched(row: Row, right: float) -> bool:
    """Whether a line is only set wide, to end where the column does: then its spaces are all alike."""
    gaps = [after.x0 - before.x1 for before, after in pairwise(row)]
    return row[-1].x1 > right - row[-1].size and max(gaps) < 1.4 * min(gaps)
