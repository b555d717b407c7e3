"""Lines of PDF pages in reading order: columns found by the white strips between them, headers and footers left out."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from statistics import median
from typing import NamedTuple

import numpy as np

GAP, CELL = 0.9, 1.6  # times the type size: gaps that divide the cells of a table, and the least that tells one
LEAST_LINES = 5  # lines that a column has, unless other pages have a gutter there
PAGE_SHARE = 3  # one page in so many must surely have a gutter for others to have it, too
SURE = 10  # lines from which on a gutter is looked for on other pages, too
STRIP = 0.3  # times the type size: the least white before a column
CANDIDATES, DEEPEST = 30, 20  # places where a gutter is looked for; columns in columns
EDGE = 3  # lines at the top and at the foot of a page that may be headers and footers
_NUMBER = re.compile(
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
    base: float  # its baseline
    size: float  # of the type
    bold: bool
    math: bool


Words = list[Word]


class Line(NamedTuple):
    """A line of a column, or a row of a table in one."""

    cells: tuple[Words, ...]
    words: Words
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


def text_of(words: Words) -> str:
    """Words as a text."""
    return " ".join(word.text for word in words)


def usual_size(sized: Iterable[tuple[float, str]]) -> float:
    """The type size that most characters of some texts have."""
    lengths: Counter[float] = Counter()
    for size, text in sized:
        lengths[size] += len(text)
    return max(lengths, key=lambda size: lengths[size])


def lines_of(pages: list[Words]) -> list[Line]:
    """All lines of a document, in the order in which they are read."""
    pages = without_edges([rows_of(words) for words in pages])
    sure: Counter[float] = Counter()
    for words in pages:
        own: set[float] = set()
        columns(words, own, learn=True)
        sure.update(own)
    known = {x for x, times in sure.items() if PAGE_SHARE * times >= len(pages)}
    found = [(number, column) for number, words in enumerate(pages) for column in columns(words, known)]
    return [line for place, (page, words) in enumerate(found) for line in column_lines(words, page, place)]


def rows_of(words: Iterable[Word]) -> list[Words]:
    """Words by baseline, from the top; within a row from the left."""
    rows: list[Words] = []
    for word in sorted(words, key=lambda word: word.base):
        if rows and word.base - rows[-1][0].base <= 0.35 * min(word.size, rows[-1][0].size):
            rows[-1].append(word)
        else:
            rows.append([word])
    return [sorted(row, key=lambda word: word.x0) for row in rows]


def cells_of(row: Words, gap: float) -> list[Words]:
    """The words of a row between gaps of so many type sizes."""
    cells = [row[:1]]
    for left, right in pairwise(row):
        if right.x0 - left.x1 > gap * max(left.size, right.size):
            cells.append([])
        cells[-1].append(right)
    return cells


def without_edges(pages: list[list[Words]]) -> list[Words]:
    """The words of pages without what repeats at their top or foot up to digits, what counts them, and lone numbers."""
    edges: list[list[tuple[Words, tuple[str, bool], set[tuple[int, bool]]]]] = []
    places: dict[tuple[str, bool], list[float]] = defaultdict(list)
    steps: Counter[tuple[int, bool]] = Counter()  # how far numbers at the ends of short lines are from the page's
    for number, rows in enumerate(pages):
        half = min(EDGE, (len(rows) + 1) // 2)
        edges.append([])
        for row, top in [(row, True) for row in rows[:half]] + [(row, False) for row in rows[len(rows) - half :]]:
            text = text_of(row)
            ends = _ENDS.finditer(text) if len(text) <= 100 else ()
            edge = row, (re.sub("[0-9]+", "#", text), top), {(int(one[1] or one[2]) - number, top) for one in ends}
            edges[-1].append(edge)
            places[edge[1]].append(row[0].base)
            steps.update(edge[2])
    many = max(2, 0.4 * len(pages))
    repeated = {key: median(bases) for key, bases in places.items() if len(bases) >= many}
    counted = {step for step, times in steps.items() if times >= max(3, 0.5 * len(pages))}
    kept = []
    for rows, page in zip(pages, edges, strict=True):
        dropped = {id(row) for row in rows[:1] + rows[-2:] if _NUMBER.fullmatch(text_of(row))}
        for row, key, counts in page:
            if not counted.isdisjoint(counts) or abs(row[0].base - repeated.get(key, 1e9)) <= 6:
                dropped.add(id(row))
        kept.append([word for row in rows if id(row) not in dropped for word in row])
    return kept


class Gutter(NamedTuple):
    """The white strip left of a place, from one baseline to another, and how many lines each side has at least."""

    x: float
    top: float
    bottom: float
    lines: int


def columns(words: Words, known: set[float], learn: bool = False, depth: int = 0) -> list[Words]:
    """Words by column, in reading order: what is above a gutter, left of it, right of it, and below.

    Where there are few lines, a gutter may be one that is `known` of other pages; `learn` adds those that are sure.
    """
    gutter = None if depth == DEEPEST else find_gutter(words, set() if learn else known)
    if gutter is None:
        return [words] if words else []
    if learn and gutter.lines >= SURE:
        known.add(gutter.x)
    parts: list[Words] = [[], [], [], []]
    for word in words:
        inside = 1 if word.x0 < gutter.x - 0.15 * word.size else 2
        parts[0 if word.base < gutter.top else 3 if word.base > gutter.bottom else inside].append(word)
    return [column for part in parts for column in columns(part, known, learn, depth + 1)]


def find_gutter(words: Words, known: set[float]) -> Gutter | None:
    """The gutter with the most lines at both sides; None where there is one column.

    A gutter is a strip that no word touches, left of where lines begin, wider than spaces are, with prose at both
    sides. In running text a space of one line is seldom above that of the next, and hardly ever in five lines. Spaces
    may be above each other where lines are short, but then they are narrow, or words do not end below each other.
    """
    rows = rows_of(words)
    spaces = sorted(right.x0 - left.x1 for row in rows for left, right in pairwise(row))
    if len(rows) < 2 or not spaces:
        return None
    size = median(word.size for word in words)
    wide = max(1.2 * spaces[len(spaces) // 4], STRIP * size)  # lines that are set wide have larger spaces
    row, end, start, *near = np.array([gap for number, row in enumerate(rows) for gap in gaps_of(row, number, size)]).T
    begins = Counter(np.round([word.x0 for word in words]).tolist())
    likely = [(x, LEAST_LINES) for x, count in begins.most_common(CANDIDATES) if count >= LEAST_LINES]
    best: Gutter | None = None
    for x, least in [*likely, *((x, 1) for x in known)]:
        free = np.flatnonzero((end <= x - STRIP * size) & (start >= x - 0.15 * size))
        for run in np.split(free, np.flatnonzero(np.diff(row[free]) != 1) + 1):  # of rows below each other
            left, right = (run[words_near[run] > 0] for words_near in near)
            lines = min(left.size, right.size)
            if lines < least or (best is not None and lines <= best.lines):
                continue
            white = x - end[left]
            straight = np.mean(white < white.min() + 0.25 * size)  # of lines that are set to the width of their column
            gap = np.median(white)
            sure = gap >= 2 * wide or (straight >= 0.6 and (gap >= wide or lines >= SURE))
            prose = min(np.median(near[0][left]), np.median(near[1][right])) >= (3 if least > 1 else 2)
            if sure and prose:
                top, bottom = (rows[int(row[k])] for k in (min(left[0], right[0]), max(left[-1], right[-1])))
                bases = min(word.base for word in top) - 0.1, max(word.base for word in bottom) + 0.1
                best = Gutter(x, *bases, lines)
    return best


def gaps_of(row: Words, number: int, size: float) -> Iterator[tuple[float, ...]]:
    """The white of a row, before, between and after its words: the row's number, where the white begins and ends, and
    how many words stand together left and right of it. Narrow white in large type is left out: titles are set wide.
    """
    least = 0.5 * row[0].size if row[0].size > 1.2 * size else 0.0
    together = [len(cell) for cell in cells_of(row, GAP) for _ in cell]
    ends = (-math.inf, *accumulate((word.x1 for word in row), max))
    starts = (*(word.x0 for word in row), math.inf)
    for end, start, *near in zip(ends, starts, (0, *together), (*together, 0), strict=True):
        if not start - end < least:
            yield number, end, start, *near


def column_lines(words: Words, page: int, number: int) -> list[Line]:
    """The lines of a column, cut into cells where they stand in a table: apart, line after line."""
    rows = rows_of(words)
    left, right = min(word.x0 for word in words), max(word.x1 for word in words)
    cut = [cells_of(row, GAP) for row in rows]
    lines = []
    for at, (row, cells) in enumerate(zip(rows, cut, strict=True)):
        near = cut[max(at - 1, 0) : at] + cut[at + 1 : at + 2]
        table = (
            len(cells_of(row, CELL)) > 1
            and not _stretched(row, right)
            and any(_aligned(cells, other) for other in near)
        )
        size = usual_size((round(word.size, 1), word.text) for word in row)
        bold = all(word.bold for word in row if word.text[0].isalnum())
        text, place = text_of(row), (left, right, row[0].x0, row[-1].x1, row[0].base)
        lines.append(Line(tuple(cells) if table else (row,), row, text, size, bold, page, number, *place))
    return lines


def _stretched(row: Words, right: float) -> bool:
    """Whether a line is only set wide, to end where the column does: then its spaces are all alike."""
    gaps = [after.x0 - before.x1 for before, after in pairwise(row)]
    return row[-1].x1 > right - row[-1].size and max(gaps) < 1.4 * min(gaps)


def _aligned(row: list[Words], other: list[Words]) -> bool:
    """Whether a cell after the first begins, ends or is centred where one of the other row does."""
    spans = [[(cell[0].x0, cell[-1].x1) for cell in cells[1:]] for cells in (row, other)]
    near = 0.3 * row[0][0].size
    return any(min(abs(a - c), abs(b - d), abs(a + b - c - d) / 2) < near for a, b in spans[0] for c, d in spans[1])
