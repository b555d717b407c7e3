"""Lines of PDF pages in reading order: pages are cut at the white between columns; headers and footers are left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import inf
from typing import NamedTuple

LEAST_WHITE = 0.38  # times the type size: the least white between columns, about a character's width
GAP, CELL = 0.9, 1.6  # times the type size: white that divides the cells of a table, and the least that tells one
LINE, TALL = 1.5, 3.0  # times the type size from one line to the next: more than in a paragraph, more than at a heading
LEAST_LINES, SURELY_WHITE = 6, 10  # lines beside the white that tell columns, and those that tell them for all pages
PAGE_SHARE = 3  # one page in so many must surely have a column there for others to have it, too
MOST_BANDS = 60  # that are followed at once: the longest; a page in columns has ten
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


class Band(NamedTuple):
    """White between two places, from one row of a page to another, with words at both sides."""

    left: float
    right: float
    first: int
    last: int
    lines: tuple[int, int] = (0, 0)  # rows with words left of it, and right of it
    words: tuple[int, int] = (0, 0)  # in the cells beside it


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
        columns(rows, set(), sure)
    known = {x for x, times in Counter(sure).items() if PAGE_SHARE * times >= len(pages)}
    found = [(page, column) for page, rows in enumerate(kept) for column in columns(rows, known)]
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


def columns(rows: list[Row], known: set[float], sure: list[float] | None = None) -> list[list[Row]]:
    """The columns of a page in reading order.

    A page is cut where tall white runs across it, if that sets columns free, then into what is above the longest white
    band, left of it, right of it, and below. Where columns are `known` to begin on other pages, few lines tell one;
    places that are sure are noted.
    """
    found, left = list[list[Row]](), [rows]
    while left:
        rows = left.pop()
        tall = [at for at, (above, below) in enumerate(pairwise(rows), 1) if is_apart(above, below, TALL)]
        stretches = [rows[a:b] for a, b in pairwise([0, *tall, len(rows)])]
        bands = [gutter(one, known) for one in stretches]
        if len(stretches) > 1 and any(bands):
            left += reversed(stretches)
        elif band := bands[0]:
            if sure is not None and min(band.lines) >= SURELY_WHITE:
                sure.append(round(band.right))
            left += [part for part in reversed(cut_at(rows, band)) if part]
        elif rows:
            found.append(rows)
    return found


def gutter(rows: list[Row], known: set[float]) -> Band | None:
    """The longest white band between columns; None where there is one column."""
    bands = [band for band in white_bands(rows) if is_gutter(band, known)]
    return max(bands, key=lambda band: (min(band.lines), band.right - band.left), default=None)


def cut_at(rows: list[Row], band: Band) -> tuple[list[Row], ...]:
    """What is above a band, left of it, right of it, and below; what stands apart at its ends is not beside it."""
    first, last = band.first, band.last
    while first < last and not is_beside(rows[first], band) and is_apart(rows[first], rows[first + 1]):
        first += 1
    while first < last and not is_beside(rows[last], band) and is_apart(rows[last - 1], rows[last]):
        last -= 1
    inside = [word for row in rows[first : last + 1] for word in row]
    left = rows_of(word for word in inside if word.x0 < band.right)
    right = rows_of(word for word in inside if word.x0 >= band.right)
    return rows[:first], left, right, rows[last + 1 :]


def is_apart(above: Row, below: Row, times: float = LINE) -> bool:
    """Whether two rows are further apart than lines of a paragraph, or than so many type sizes."""
    return below[0].base - above[0].base > times * below[0].size


def is_beside(row: Row, band: Band) -> bool:
    """Whether a row has words at both sides of white."""
    return row[0].x0 < band.right <= row[-1].x1


def is_gutter(band: Band, known: set[float]) -> bool:
    """Whether white is between columns of prose."""
    lines, prose = min(band.lines), min(n / max(m, 1) for n, m in zip(band.words, band.lines, strict=True)) >= PROSE
    return (lines >= LEAST_LINES and prose) or (lines > 0 and any(band.left < x <= band.right + 2 for x in known))


def white_bands(rows: list[Row]) -> Iterator[Band]:
    """The white that runs down a page between words, each as far as it goes."""
    open_: dict[tuple[float, float], Band] = {}
    for number, row in enumerate(rows):
        least, below = LEAST_WHITE * max(word.size for word in row), dict[tuple[float, float], Band]()
        for end, start, *near in gaps_of(row):
            wide = start - end >= least
            for band in [*open_.values(), Band(-inf, inf, number, number)] if wide else ():
                left, right = max(band.left, end), min(band.right, start)
                if right - left < least:
                    continue
                lines = band.lines[0] + (near[0] > 0), band.lines[1] + (near[1] > 0)
                words = band.words[0] + near[0], band.words[1] + near[1]
                same = below.get((left, right))
                if same is None or band.first < same.first:
                    below[left, right] = Band(left, right, band.first, number, lines, words)
        for place, band in open_.items():
            if place not in below:
                yield band
        open_ = below
        if len(below) > MOST_BANDS:
            open_ = dict(sorted(below.items(), key=lambda item: item[1].first)[:MOST_BANDS])
    yield from open_.values()


def gaps_of(row: Row) -> Iterator[tuple[float, float, int, int]]:
    """The white before, between and after the words of a row, and how many words stand together at its two sides."""
    end, near = -inf, 0
    for cell in cells_of(row, GAP):
        for word in cell:
            yield end, word.x0, near, len(cell)
            end, near = max(end, word.x1), len(cell)
    yield end, inf, near, 0


def column_lines(rows: list[Row], page: int, number: int) -> Iterator[Line]:
    """The lines of a column, cut into cells where they stand in a table: apart, line after line."""
    left, right = min(row[0].x0 for row in rows), max(word.x1 for row in rows for word in row)
    cut = [cells_of(row, GAP) for row in rows]
    for at, (row, cells) in enumerate(zip(rows, cut, strict=True)):
        near = cut[max(at - 1, 0) : at] + cut[at + 1 : at + 2]
        size = usual_size((round(word.size, 1), word.text) for word in row)
        bold = all(word.bold for word in row if word.text[0].isalnum())
        apart = len(cells_of(row, CELL)) > 1 and not is_stretched(row, right)
        if not (apart and any(are_aligned(cells, other) for other in near)):
            cells = [row]
        yield Line(cells, text_of(row), size, bold, page, number, left, right, row[0].x0, row[-1].x1, row[0].base)


def is_stretched(row: Row, right: float) -> bool:
    """Whether a line is only set wide, to end where the column does: then its spaces are all alike."""
    gaps = [after.x0 - before.x1 for before, after in pairwise(row)]
    return row[-1].x1 > right - row[-1].size and max(gaps) < 1.4 * min(gaps)


def are_aligned(row: list[Row], other: list[Row]) -> bool:
    """Whether a cell after the first begins, ends or is centred where one of the other row does."""
    spans = [[(cell[0].x0, cell[-1].x1) for cell in cells[1:]] for cells in (row, other)]
    near = 0.3 * row[0][0].size
    return any(min(abs(a - c), abs(b - d), abs(a + b - c - d) / 2) < near for a, b in spans[0] for c, d in spans[1])
