"""Lines of PDF pages in reading order: columns found by the gutter between them, headers and footers left out."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

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
    found = [gutter(segments) for segments in laid]
    usual = Counter(round(one) for one in found if one is not None)
    shared = float(usual.most_common(1)[0][0]) if usual else None
    lines: list[Line] = []
    for number, (segments, own) in enumerate(zip(laid, found, strict=True)):
        place = own
        if own is None and shared is not None and splits(segments, shared):
            place = shared  # too few lines to tell by themselves
        for column in columns(segments, place):
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
            if (same is not None and abs(row[0].base - same) <= 6) or any((count - number, top) in counted for count in _counts(row)):
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


def gutter(segments: list[Segment]) -> float | None:
    """The middle of the empty strip between two columns of text, or None: a strip that few lines cross, with prose at
    both sides.
    """
    if len(segments) < 6:
        return None
    left, right = min(one.x0 for one in segments), max(one.x1 for one in segments)
    size = median(one.size for one in segments)
    count = int((right - left) / STEP) + 2
    edges, total = [0.0] * (count + 1), 0.0
    for one in segments:
        edges[int((one.x0 - left) / STEP)] += one.size
        edges[min(int((one.x1 - left) / STEP) + 1, count)] -= one.size
        total += one.size
    cover, sums = 0.0, []
    for edge in edges[:count]:
        cover += edge
        sums.append(cover)
    best: tuple[float, float] | None = None
    at = int(0.2 * count)
    while at < int(0.8 * count):
        end = at
        while end < count and sums[end] <= 0.3 * total:
            end += 1
        wide = (end - at) * STEP
        middle = left + (at + end) / 2 * STEP
        if wide >= max(6.0, 0.6 * size) and splits(segments, middle, strict=True):
            crossing = min(sums[at:end])
            if best is None or crossing < best[0]:
                best = crossing, middle
        at = end + 1
    return None if best is None else best[1]


def splits(segments: list[Segment], middle: float, strict: bool = False) -> bool:
    """Whether there is prose at both sides of a place: lines that fill their column and have some words."""
    sides = [one for one in segments if one.x1 <= middle], [one for one in segments if one.x0 >= middle]
    crossing = len(segments) - len(sides[0]) - len(sides[1])
    if crossing > (0.3 if strict else 0.7) * len(segments):
        return False
    for side in sides:
        if len(side) < (3 if strict else 2):
            return False
        wide = max(one.x1 for one in side) - min(one.x0 for one in side)
        if median(one.x1 - one.x0 for one in side) < 0.45 * wide or median(len(one.words) for one in side) < 3:
            return False
    spans = [(min(one.base for one in side), max(one.base for one in side)) for side in sides]
    shared = min(spans[0][1], spans[1][1]) - max(spans[0][0], spans[1][0])
    shorter = min(stop - start for start, stop in spans)
    return shared >= 0.3 * shorter


def columns(segments: list[Segment], middle: float | None, depth: int = 0) -> list[list[Segment]]:
    """Segments by column, in reading order: between lines across the gutter, what is left of it before what is right."""
    if middle is None or depth > 3:
        return [segments] if segments else []
    found: list[list[Segment]] = []
    whole: list[Segment] = []
    sides: tuple[list[Segment], list[Segment]] = ([], [])

    def close_sides() -> None:
        for side in sides:
            found.extend(columns(side[:], gutter(side), depth + 1))
            side.clear()

    for one in segments:  # from the top
        if one.x0 < middle < one.x1:
            close_sides()
            whole.append(one)
        else:
            if whole:
                found.append(whole[:])
                whole.clear()
            sides[one.x0 >= middle].append(one)
    close_sides()
    return [*found, whole] if whole else found


def _column(segments: list[Segment], page: int, number: int) -> list[Line]:
    """The lines of a column. Segments of one line are one, unless they stand in a table: apart, line after line."""
    rows: list[list[Segment]] = []
    for one in segments:
        if rows and abs(one.base - rows[-1][0].base) <= 0.35 * one.size:
            rows[-1].append(one)
        else:
            rows.append([one])
    left, right = min(one.x0 for one in segments), max(one.x1 for one in segments)
    lines = []
    for at, row in enumerate(rows):
        row.sort(key=lambda one: one.x0)
        near = rows[max(at - 1, 0) : at] + rows[at + 1 : at + 2]
        table = any(len(other) > 1 for other in near) and _apart(row)
        cells = row if table else [Segment(tuple(word for one in row for word in one.words))]
        lines.append(Line(tuple(cells), page, number, left, right))
    return lines


def _apart(row: list[Segment]) -> bool:
    return any(right.x0 - left.x1 > CELL * right.size for left, right in pairwise(row))
