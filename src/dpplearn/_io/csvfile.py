"""Reads CSV and TSV rows with their line numbers; a quotation mark that is never closed is an error, not a cell."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator

from dpplearn._checks import warn_user
from dpplearn._io.encoding import MAX_LINE

LONG = 1_000  # a longer cell with line breaks may contain rows that a stray quotation mark swallowed
BREAK = re.compile(r"\r\n?|\n")
ADVICE = 'If the mark belongs to the text, write it twice, and the cell in quotation marks: """Yes"" she said".'


def csv_rows(lines: Iterable[str], name: object, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    r"""The number of the line where each row begins, and the cells of the row.

    A line ends at a line feed, a carriage return, or both. An empty line is a row without cells.

    Examples
    --------
    >>> list(csv_rows(["a,b\n", '1,"two\n', 'lines"\n'], "a.csv"))
    [(1, ['a', 'b']), (2, ['1', 'two\nlines'])]
    >>> list(csv_rows(["a,b\n", '1,"two\n', "2,three\n"], "a.csv"))
    Traceback (most recent call last):
    ValueError: a.csv, line 2: a quotation mark opens a cell in the row that begins here, and none closes it, or ...
    """
    csv.field_size_limit(MAX_LINE)  # a cell may hold an embedding
    parts = (part for line in lines for part in io.StringIO(line, newline=""))  # a carriage return also ends a line
    reader = csv.reader(parts, delimiter=delimiter, strict=True)
    warned = False
    while True:
        first = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error:
            last = "" if reader.line_num == first else f" (line {reader.line_num})"
            raise ValueError(
                f"{name}, line {first}: a quotation mark opens a cell in the row that begins here, and none closes it, "
                f"or more than {delimiter!r} follows the one that does{last}. {ADVICE}"
            ) from None
        if cells is None:
            return
        if not warned and reader.line_num > first and any(len(cell) > LONG and BREAK.search(cell) for cell in cells):
            warned, what = True, f"a cell has line breaks and over {LONG:,} characters"
            warn_user(f"{name}, line {first}: {what}. If it holds the rows below it, a quotation mark is missing.")
        yield first, cells
