"""Lines of PDF pages in reading order: columns found by the gutter between them, headers and footers left out."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import median
from typing import NamedTuple

from dpplearn._cached import cached_property
from dpplearn.summarize.corpora.formats.pdf_words import Word

GAP = 0.9  # times the type size: a wider one may be more than a space
CELL = 1.6  # and one as wide, or wider, divides cells where it is no gutter
EDGE = 3  # lines at the top and at the foot of a page that may be headers and footers
STEP = 2.0  # points between places where a gutter is looked for
_NUMBER = re.compile(
    r"[\W_]*(?:(?:page|seite|p|s|página|pagina)\.?\s*)?(?:[0-9]{1,4}|[ivxlcIVXLC]{1,7})"
    r"(?:\s*(?:of|/|von|sur|de|di|\|)\s*[0-9]{1,4})?[\W_]*",
    re.IGNORECASE,
)
_ENDS = re.compile(r"^([0-9]{1,4})\b|\b([0-9]{1,4})$")


@dataclass(frozen=True, eq=False)
class Segment:
    """Words next to each other on one line."""

    words: tuple[Word, ...]

    @cached_property
    def x0(self) -> float:
        return self.words[0].x0

    @cached_property
    def x1(self) -> float:
        return max(word.x1 for word in self.words)

    @cached_property
    def base(self) -> float:
        return self.words[0].base

    @cached_property
    def size(self) -> float:
        return max(self.words, key=lambda word: len(word.text)).size

    @cached_property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, eq=False)
class Line:
    """A line of a column, or a row of a table in one."""

    cells: tuple[Segment, ...]
    page: int
    column: int  # counted through the document
    left: float  # where the column begins and ends
    right: float

    @cached_property
    def words(self) -> list[Word]:
        return [word for cell in self.cells for word in cell.words]

    @cached_property
    def x0(self) -> float:
        return self.cells[0].x0

    @cached_property
    def x1(self) -> float:
        return self.cells[-1].x1

    @cached_property
    def base(self) -> float:
        return self.cells[0].base

    @cached_property
    def size(self) -> float:
        sizes: Counter[float] = Counter()
        for word in self.words:
            sizes[round(word.size, 1)] += len(word.text)
        return max(sizes, key=lambda size: sizes[size])

    @cached_property
    def bold(self) -> bool:
        return all(word.bold for word in self.words if word.text[0].isalnum())

    @cached_property
    def text(self) -> str:
        return " ".join(cell.text for cell in self.cells)


def lines_of(pages: list[list[Word]]) -> list[Line]:
    """All lines of a document, in the order in which they are read."""
    rows = without_edges([rows_of(words) for words in pages])
    laid = [[segment for row in page for segment in row] for page in rows]
    known = list({round(strip.middle / 4): strip for page in laid for strip in strips(page)}.values())
    lines: list[Line] = []
    for number, segments in enumerate(laid):
        for column in columns(segments, known):
            lines += _column(column, number, lines[-1].column + 1 if lines else 0)
    return lines


def rows_of(words: Iterable[Word]) -> list[list[Segment]]:
    """Segments by baseline, from the top; within one from the left."""
    groups: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word.base):
        if groups and word.base - groups[-1][0].base <= 0.35 * min(word.size, groups[-1][0].size):
            groups[-1].append(word)
        else:
            groups.append([word])
    rows = []
    for group in groups:
        group.sort(key=lambda word: word.x0)
        row, held = [], [group[0]]
        for left, right in pairwise(group):
            if right.x0 - left.x1 > GAP * max(left.size, right.size):
                row.append(Segment(tuple(held)))
                held = []
            held.append(right)
        rows.append([*row, Segment(tuple(held))])
    return rows


def without_edges(pages: list[list[list[Segment]]]) -> list[list[list[Segment]]]:
    """Pages without what repeats at their top or foot up to digits, what counts them, and lone numbers."""
    places: dict[tuple[str, bool], list[float]] = defaultdict(list)
    steps: Counter[tuple[int, bool]] = Counter()
    for number, rows in enumerate(pages):
        for row, top in _edges(rows):
            places[_key(row), top].append(row[0].base)
            steps.update({(count - number, top) for count in _counts(row)})
    many = max(2, 0.4 * len(pages))
    repeated = {key: median(found) for key, found in places.items() if len(found) >= many}
    counted = {step for step, found in steps.items() if found >= max(3, 0.5 * len(pages))}
    kept = []
    for number, rows in enumerate(pages):
        edges = _edges(rows)
        dropped = set()
        for row, top in edges:
            same = repeated.get((_key(row), top))
            if (same is not None and abs(row[0].base - same) <= 6) or any(
                (count - number, top) in counted for count in _counts(row)
            ):
                dropped.add(id(row))
        for row in (rows[:1] + rows[-2:]) if rows else []:
            if _NUMBER.fullmatch(_text(row)):
                dropped.add(id(row))
        kept.append([row for row in rows if id(row) not in dropped])
    return kept


def _edges(rows: list[list[Segment]]) -> list[tuple[list[Segment], bool]]:
    half = min(EDGE, (len(rows) + 1) // 2)
    return [(row, True) for row in rows[:half]] + [(row, False) for row in rows[len(rows) - half :]]


def _text(row: list[Segment]) -> str:
    return " ".join(segment.text for segment in row)


def _key(row: list[Segment]) -> str:
    return re.sub("[0-9]+", "#", _text(row))


def _counts(row: list[Segment]) -> set[int]:
    """Numbers at the ends of a short line, which may be that of the page."""
    text = _text(row)
    if len(text) > 100:
        return set()
    return {int(one[1] or one[2]) for one in _ENDS.finditer(text)}


class Strip(NamedTuple):
    """The empty strip between two columns."""

    start: float
    end: float

    @property
    def middle(self) -> float:
        return (self.start + self.end) / 2

    def cut(self, segment: Segment) -> list[Segment]:
        """A segment in two where its words leave the strip free."""
        middle, words = self.middle, segment.words
        if not segment.x0 < middle < segment.x1:
            return [segment]
        first = next(i for i, word in enumerate(words) if word.x1 > middle)
        if first == 0 or words[first].x0 - words[first - 1].x1 < 0.75 * (self.end - self.start):
            return [segment]
        return [Segment(words[:first]), Segment(words[first:])]

    def sides(self, segments: list[Segment]) -> tuple[list[Segment], list[Segment]]:
        """What is left and what is right of it; lines across are neither."""
        cut = [one for segment in segments for one in self.cut(segment)]
        return [one for one in cut if one.x1 <= self.middle], [one for one in cut if one.x0 >= self.middle]

    def parts_prose(self, segments: list[Segment], strict: bool = True) -> bool:
        """Whether there is prose at both sides: lines that fill their column and have some words."""
        sides = self.sides(segments)
        count = sum(len(self.cut(segment)) for segment in segments)
        crossing = count - len(sides[0]) - len(sides[1])
        if crossing > (0.4 if strict else 0.7) * count:
            return False
        for side in sides:
            rows = _rows(side)
            if not strict and 0 < len(rows) < 4:
                continue
            if len(rows) < 3:
                return False
            wide = max(one.x1 for one in side) - min(one.x0 for one in side)
            fills = median(row[-1].x1 - row[0].x0 for row in rows) >= 0.45 * wide
            worded = median(sum(len(one.words) for one in row) for row in rows) >= 3
            whole = sum(len(row) == 1 for row in rows) >= 0.4 * len(rows)  # rows of a table are many segments
            if not (fills and worded and (whole or gutter(side) is not None)):
                return False
        spans = [(min(one.base for one in side), max(one.base for one in side)) for side in sides]
        shared = min(spans[0][1], spans[1][1]) - max(spans[0][0], spans[1][0])
        return shared >= 0.3 * min(stop - start for start, stop in spans)


def gutter(segments: list[Segment]) -> Strip | None:
    """The strip that the fewest lines cross, with prose at both sides; None where there is one column.

    What is counted are words, not the spaces between them: in running text four lines in five have a word at any place.
    """
    if len(segments) < 6:
        return None
    left, right = min(one.x0 for one in segments), max(one.x1 for one in segments)
    size = median(one.size for one in segments)
    count = int((right - left) / STEP) + 2
    edges = [0.0] * (count + 1)
    for word in (word for one in segments for word in one.words):
        edges[max(int((word.x0 - left) / STEP), 0)] += word.size
        edges[min(int((word.x1 - left) / STEP) + 1, count)] -= word.size
    sums = list(accumulate(edges[:count]))
    most = sorted(sums)[int(0.8 * count)]  # what a place in a column has
    best: tuple[float, Strip] | None = None
    at = int(0.2 * count)
    while at < int(0.8 * count):
        end = at
        while end < count and sums[end] <= 0.5 * most:
            end += 1
        strip = Strip(left + at * STEP, left + end * STEP)
        if strip.end - strip.start >= 0.5 * size and end > at and strip.parts_prose(segments):
            crossing = min(sums[at:end])
            if best is None or crossing < best[0]:
                best = crossing, strip
        at = end + 1
    return None if best is None else best[1]


def strips(segments: list[Segment]) -> list[Strip]:
    """The gutters of a page: that of the whole, and those at each side of it."""
    strip = gutter(segments)
    if strip is None:
        return []
    sides = strip.sides(segments)
    return [strip, *strips(sides[0]), *strips(sides[1])]


def columns(segments: list[Segment], known: list[Strip], depth: int = 0) -> list[list[Segment]]:
    """Segments by column, in reading order: between lines across the gutter, what is left of it, then what is right.

    Where there are too few lines to find a gutter, it may be one that another page has.
    """
    strip = gutter(segments)
    if strip is None:
        strip = next((one for one in known if one.parts_prose(segments, strict=False)), None)
    if strip is None or depth > 3:
        return [segments] if segments else []
    found: list[list[Segment]] = []
    whole: list[Segment] = []
    sides: tuple[list[Segment], list[Segment]] = ([], [])

    def close_sides() -> None:
        for side in sides:
            found.extend(columns(side[:], known, depth + 1))
            side.clear()

    for one in (part for segment in segments for part in strip.cut(segment)):  # from the top
        if one.x0 < strip.middle < one.x1:
            close_sides()
            whole.append(one)
        else:
            if whole:
                found.append(whole[:])
                whole.clear()
            sides[one.x0 >= strip.middle].append(one)
    close_sides()
    return [*found, whole] if whole else found


def _column(segments: list[Segment], page: int, number: int) -> list[Line]:
    """The lines of a column. Segments of one line are one, unless they stand in a table: apart, line after line."""
    rows = _rows(segments)
    left, right = min(one.x0 for one in segments), max(one.x1 for one in segments)
    lines = []
    for at, row in enumerate(rows):
        near = rows[max(at - 1, 0) : at] + rows[at + 1 : at + 2]
        table = _apart(row) and not _stretched(row, right) and any(_aligned(row, other) for other in near)
        cells = row if table else [Segment(tuple(word for one in row for word in one.words))]
        lines.append(Line(tuple(cells), page, number, left, right))
    return lines


def _rows(segments: list[Segment]) -> list[list[Segment]]:
    """Segments, given from the top, by baseline."""
    rows: list[list[Segment]] = []
    for one in segments:
        if rows and abs(one.base - rows[-1][0].base) <= 0.35 * one.size:
            rows[-1].append(one)
        else:
            rows.append([one])
    return [sorted(row, key=lambda one: one.x0) for row in rows]


def _stretched(row: list[Segment], right: float) -> bool:
    """Whether a line is only set wide, to end where the column does: then its spaces are all alike."""
    words = [word for one in row for word in one.words]
    gaps = [after.x0 - before.x1 for before, after in pairwise(words)]
    return row[-1].x1 > right - row[-1].size and max(gaps) < 1.4 * min(gaps)


def _aligned(row: list[Segment], other: list[Segment]) -> bool:
    """Whether a cell after the first begins, ends or is centred where one of the other row does."""
    return any(
        min(abs(a.x0 - b.x0), abs(a.x1 - b.x1), abs(a.x0 + a.x1 - b.x0 - b.x1) / 2) < 0.3 * a.size
        for a in row[1:]
        for b in other[1:]
    )


def _apart(row: list[Segment]) -> bool:
    return any(right.x0 - left.x1 > CELL * right.size for left, right in pairwise(row))
