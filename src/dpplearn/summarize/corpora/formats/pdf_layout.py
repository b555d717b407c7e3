"""Lines of PDF pages in reading order: columns found by the white strips between them, headers and footers left out."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from dpplearn.summarize.corpora.formats.pdf_words import Word

GAP, CELL = 0.9, 1.6  # times the type size: gaps that divide the cells of a table, and the least that tells one
LEAST = 5  # lines that a column has, unless other pages have a gutter there
SHARE = 3  # one page in so many must surely have a gutter for others to have it, too
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

    @property
    def x0(self) -> float:
        return self.words[0].x0

    @property
    def x1(self) -> float:
        return self.words[-1].x1

    @property
    def base(self) -> float:
        return self.words[0].base


def said(words: Words) -> str:
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
    known = {x for x, times in sure.items() if SHARE * times >= len(pages)}
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
            text = said(row)
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
        dropped = {id(row) for row in rows[:1] + rows[-2:] if _NUMBER.fullmatch(said(row))}
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
    sides. In running text a space of one line is seldom above that of the next, and hardly ever in five lines.
    """
    rows = rows_of(words)
    gaps = [right.x0 - left.x1 for row in rows for left, right in pairwise(row)]
    if len(rows) < 2 or not gaps:
        return None
    size = median(word.size for word in words)
    space = sorted(gaps)[len(gaps) // 4]  # lines that are set wide have larger ones
    table = [
        (word.x0, word.x1, number, len(cell))
        for number, row in enumerate(rows)
        for cell in cells_of(row, GAP)
        for word in cell
    ]
    x0, x1, line, worded = np.array(sorted(table)).T
    line = line.astype(int)
    large = np.array([row[0].size if row[0].size > 1.2 * size else 0.0 for row in rows])
    starts = Counter(np.round(x0).tolist())
    likely = [(x, LEAST) for x, count in starts.most_common(CANDIDATES) if count >= LEAST]
    best: Gutter | None = None
    for x, least in [*likely, *((x, 1) for x in known)]:
        left, right = x1 <= x - STRIP * size, x0 >= x - 0.15 * size
        free = np.bincount(line[~(left | right)], minlength=len(rows)) == 0
        ends = np.full((2, len(rows)), np.nan)  # where the words next to the strip end and begin
        near = np.zeros((2, len(rows)))  # how many words stand there in a row
        ends[0, line[left]], near[0, line[left]] = x1[left], worded[left]
        ends[1, line[right][::-1]], near[1, line[right][::-1]] = x0[right][::-1], worded[right][::-1]
        free &= ~(ends[1] - ends[0] < 0.5 * large)  # spaces of titles are as wide as gutters
        edges = np.flatnonzero(np.diff(np.r_[False, free, False]))
        for a, b in edges.reshape(-1, 2).tolist():
            gutter = _gutter(x, rows, a, near[:, a:b], ends[:, a:b], least, max(1.2 * space, STRIP * size), size)
            if gutter is not None and (best is None or gutter.lines > best.lines):
                best = gutter
    return best


def _gutter(
    x: float, rows: list[Words], first: int, near: Any, ends: Any, least: int, white: float, size: float
) -> Gutter | None:
    """The gutter at a place, in rows from the first that leave it free, if there is prose at both sides.

    Spaces in a row may be above each other: but either they are narrow, or words do not end below each other there.
    """
    sides = [np.flatnonzero(one) for one in near]
    if min(map(len, sides)) < least:
        return None
    words = [np.median(one[at]) for one, at in zip(near, sides, strict=True)]
    gaps = x - ends[0, sides[0]]
    straight = np.mean(gaps < gaps.min() + 0.25 * size)  # of lines that are set to the width of their column
    gap = np.median(gaps)
    sure = gap >= 2 * white or (straight >= 0.6 and (gap >= white or min(map(len, sides)) >= SURE))
    if min(words) < (3 if least > 1 else 2) or not sure:
        return None
    a, b = min(one[0] for one in sides), max(one[-1] for one in sides)
    top, bottom = min(word.base for word in rows[first + a]), max(word.base for word in rows[first + b])
    return Gutter(x, top - 0.1, bottom + 0.1, min(map(len, sides)))


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
        lines.append(Line(tuple(cells) if table else (row,), row, said(row), size, bold, page, number, left, right))
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
