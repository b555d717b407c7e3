"""Baskets in files: one a line, or long tables with a row for each item; CSV, TSV, JSON Lines, Parquet."""

from __future__ import annotations

from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from dpplearn._io.csvfile import csv_rows
from dpplearn._io.encoding import read_lines
from dpplearn._io.jsonlines import parse_json
from dpplearn.baskets.baskets import Baskets
from dpplearn.cli.formats import read_items

SEPARATORS = ("\t", ",", ";")
PLAIN = 20  # rows of texts that tell a table: fewer baskets may look like one by chance
SHORT = 10  # rows of a table for each that may lack a cell
LISTS = ("items", "basket")  # what a column of whole baskets may be called


def read_baskets(path: Path, columns: tuple[str, str] | None = None) -> list[list[Any]]:
    """The baskets of a file.

    With `columns`, of a basket's name and of an item, a long table. Otherwise each line is a basket: items separated by
    tabs, commas or semicolons, whichever the file has first, else by blanks; an empty line is an empty basket. In
    JSON Lines a line is a list, or an object with a list called "items"; in Parquet "items" is a column of lists. Items
    that are all whole numbers are read as such.
    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder. Give a file of baskets: one a line, or a table with --long.")
    if columns is not None:
        return from_table(path, *columns)
    if path.suffix.lower() == ".parquet":
        return from_parquet(path)
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        texts = ((line.where, line.text().strip()) for line in read_lines(path, path))
        return [from_json(where, text) for where, text in texts if text]
    lines = [line.text() for line in read_lines(path, path)]
    separator = next((mark for mark in SEPARATORS if any(mark in line for line in lines)), None)
    if separator is None:
        return as_numbers([line.split() for line in lines])
    found = [[cell.strip() for cell in row if cell.strip()] for _, row in csv_rows(lines, path, separator)]
    check_not_long(path, found)
    return as_numbers(found)


def check_not_long(path: Path, rows: list[list[str]]) -> None:
    """An error where lines are plainly rows of a table: as many cells in all, but for one row in SHORT or a single one.

    Either the first line has names that do not occur again, over a column of whole numbers or over many rows of columns
    that have no value in common; or two columns do without names, whole numbers and what is none, or a first column
    whose values stand in runs.
    """
    head, *below = rows or [[]]
    full = [row for row in below if len(row) == len(head)]
    if len(head) < 2 or len(full) < 2 or len(below) - len(full) > max(1, len(full) // SHORT):
        return
    named = not {*head} & {cell for row in below for cell in row}
    columns = [*zip(*(full if named else [head, *full]), strict=True)]
    values = [{*column} for column in columns]
    apart = sum(map(len, values)) == len(set().union(*values)) and min(map(len, values)) < len(full)
    many = len(full) >= PLAIN and apart
    figures = [all(cell.isdecimal() for cell in column) for column in columns]
    if named and (many or any(whole and not name.isdecimal() for whole, name in zip(figures, head, strict=True))):
        raise ValueError(
            f"{path} is a table with the columns {', '.join(head)}, not a basket a line. For a row for each item give "
            f"--long BASKET ITEM, such as --long {head[0]!r} {head[1]!r}. If each line is a basket, leave the first "
            "line out."
        )
    numbered = figures[0] and not any(item.isdecimal() for item in columns[-1])
    in_runs = len([*groupby(columns[0])]) == len(values[0]) < len(columns[0])
    if many and not named and len(head) == 2 and (numbered or in_runs):
        raise ValueError(
            f"{path} is a long table, with a basket and an item in each line: give it a first line of names, such as "
            '"basket,item", and --long basket item. If each line is a basket, write it as JSON Lines, a list a line.'
        )


def from_table(path: Path, basket: str, item: str) -> list[list[Any]]:
    """Baskets of a long table, in the order in which their first rows stand."""
    table = read_items(path)
    owners, names = ([*table.column(name, missing=True)] for name in (basket, item))
    if all(isinstance(name, str) for name in names):
        [names] = as_numbers([names])
    try:
        found = Baskets.from_long({basket: owners, item: names}, basket=basket, item=item)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None
    listed = found.items[found.indices].tolist()
    return [listed[a:b] for a, b in pairwise(found.indptr.tolist())]


def from_parquet(path: Path) -> list[list[Any]]:
    """Baskets of a column of lists."""
    table = read_items(path)
    name = next((name for name in LISTS if name in table.fields), None)
    if name is None:
        raise ValueError(
            f"{path} must have a column of lists called {' or '.join(map(repr, LISTS))}, found "
            f"{', '.join(table.fields)}. For a row for each item, give --long BASKET ITEM."
        )
    baskets = [one or [] if isinstance(one, list | None) else one for one in table.get(name)]
    bad = next((k for k, one in enumerate(baskets) if not isinstance(one, list)), None)
    if bad is not None:
        raise ValueError(f"{table.place(bad)}: {name!r} must be a list of items, found {baskets[bad]!r:.60}.")
    return baskets


def from_json(where: str, line: str) -> list[Any]:
    """A basket from a line of JSON."""
    record = parse_json(line, where)
    if isinstance(record, dict):
        record = next((record[name] for name in LISTS if name in record), None)
    if not isinstance(record, list):
        raise ValueError(
            f'{where} must be a list of items, or an object with a list called "items". For an object for each item, '
            "give --long BASKET ITEM."
        )
    return record


def as_numbers(rows: list[list[str]]) -> list[list[Any]]:
    """Items as whole numbers, if all of them are."""
    if all(cell.isascii() and cell.isdigit() and len(cell) < 19 for row in rows for cell in row):
        return [[int(cell) for cell in row] for row in rows]
    return list(rows)
