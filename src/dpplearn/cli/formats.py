"""Items as files: JSON Lines, CSV and TSV are read and written, Parquet and NumPy arrays read."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from dpplearn._checks import IntArray
from dpplearn._io.csvfile import csv_rows
from dpplearn._io.encoding import read_lines
from dpplearn._io.jsonfile import json_lines
from dpplearn.cli.items import Items, Record

Name = TypeVar("Name", str, str | None)
READ = ("jsonl", "csv", "tsv", "parquet", "npy")
WRITTEN = READ[:3]


def format_of(path: Path, known: Sequence[str], advice: str) -> str:
    """The format that the end of a file's name says."""
    if (end := path.suffix.lower().removeprefix(".")) in known:
        return end
    raise ValueError(f"{path} must end in one of .{', .'.join(known)}, so that its format is known. {advice}")


# Reading


def read_items(path: Path, encoding: str = "utf-8", ndim: int | None = 2) -> Items:
    """Read items in the format that the end of the file's name says; - is standard input, in JSON Lines.

    `ndim`: of an array, None where numbers of items do as well as rows.
    """
    if str(path) == "-":
        return read_jsonl(sys.stdin.buffer, "standard input", encoding)
    end = format_of(path, READ, "Rename it; a .json list of objects becomes .jsonl by: jq -c '.[]'.")
    if end == "jsonl":
        return read_jsonl(path, str(path), encoding)
    if end in ("csv", "tsv"):
        return read_csv(path, encoding, "," if end == "csv" else "\t")
    return read_parquet(str(path)) if end == "parquet" else read_npy(str(path), ndim=ndim)


def read_jsonl(source: Path | BinaryIO, name: str, encoding: str) -> Items:
    places, lines, records = [], [], []
    for place, line, record in json_lines(source, name, "Each line must hold one object.", encoding):
        places.append(place.removeprefix(f"{name}, "))
        lines.append(line)
        records.append(record)
    fields = dict.fromkeys(field for record in records for field in record)
    columns = {field: [record.get(field) for record in records] for field in fields}
    return Items(name, columns, len(records), places=places, lines=lines)


def read_csv(path: Path, encoding: str, delimiter: str) -> Items:
    """Cells between commas or tabs; or between what line 1 has more of, such as the semicolons of spreadsheets."""
    lines = (line.text() for line in read_lines(path, path, encoding))
    head = next(lines, "")
    delimiter = max(delimiter, *";\t,|", key=re.sub('"[^"]*"', "", head).count)  # of equally many the first
    rows = csv_rows(chain([head], lines), path, delimiter)
    names = next(rows, (1, []))[1]
    check_unique(names, f"{path}, line 1")
    table, places = [], []
    for line, cells in rows:
        if cells:
            if len(cells) != len(names):
                raise ValueError(f"{path}, line {line}: found {len(cells)} cells, and {len(names)} names in line 1.")
            table.append(cells)
            places.append(f"line {line}")
    columns = {name: [row[j] for row in table] for j, name in enumerate(names)}
    return Items(str(path), columns, len(table), places=places, delimiter=delimiter)


def read_parquet(name: str) -> Items:
    try:
        import pyarrow.parquet
    except ImportError:
        advice = 'Run pip install "dpplearn[tables]", or give .jsonl or .csv.'
        raise ValueError(f"Reading {name} needs pyarrow, which is not installed. {advice}") from None
    try:
        file = pyarrow.parquet.ParquetFile(name)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{name} is not a Parquet file, or was cut short: {error}.") from None
    check_unique(file.schema_arrow.names, name)
    return Items(name, dict.fromkeys(file.schema_arrow.names), file.metadata.num_rows, file=file)


def read_npy(name: str, field: str = "embedding", ndim: int | None = 2) -> Items:
    """One array, a row for each item (of one dimension, a number), read where it lies."""
    try:
        array = np.load(name, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{name} is not a NumPy array that can be read without pickle: {error}.") from None
    if ndim is None and getattr(array, "ndim", 2) == 1:
        ndim, field = 1, "item"
    if not isinstance(array, np.ndarray) or array.ndim != (ndim or 2):
        shape, row = getattr(array, "shape", "several arrays"), "a number" if ndim == 1 else "a row of numbers"
        raise ValueError(f"{name} must hold one array with {row} for each item, found {shape}.")
    return Items(name, {field: array}, len(array))


def array_beside(items: Items, named: Name, field: str, ndim: int) -> tuple[Items, Name]:
    """Where a field stands, and its name there: in the items, or in an .npy file that is named in its place."""
    if named is None or named in items.fields or not named.lower().endswith(".npy"):
        return items, named
    file = read_npy(named, field, ndim)
    if file.n != items.n:
        raise ValueError(f"{named} must have a row for each item of {items.name}, {items.n}, but has {file.n}.")
    return file, field


# Writing


def write_items(items: Items, subset: IntArray, end: str) -> bytes:
    """Some of the items in a format; lines of JSON stay as they are."""
    records = items.take(subset)
    if end == "jsonl":
        return write_jsonl(items, subset, records)
    return write_csv(items, records, "\t" if end == "tsv" else items.delimiter)


def as_list(value: Any) -> Any:
    """Arrays and numpy's numbers as Python's own, which for longer floats numpy itself does not give."""
    if not isinstance(value, np.ndarray | np.generic):
        return value
    return (value.astype(np.float64) if value.dtype.char == "g" else value).tolist()


def json_line(value: Any) -> str:
    """JSON on one line; of what it has no type for, arrays as lists, dates as text."""
    return json.dumps(value, ensure_ascii=False, default=lambda x: as_list(x) if hasattr(x, "tolist") else str(x))


def write_jsonl(items: Items, subset: IntArray, records: list[Record]) -> bytes:
    """Lines as they came where they came as such: 0.10 and 1e2 stay."""
    lines = map(json_line, records) if items.lines is None else (items.lines[i] for i in subset)
    return "".join(line + "\n" for line in lines).encode("utf-8", "backslashreplace")


def write_csv(items: Items, records: list[Record], delimiter: str) -> bytes:
    """Cells as they are, empty for what is missing; lists and objects as JSON, which `read_items` reads."""
    names, out = list(records[0]) if records else items.fields, io.StringIO()
    rows = ([as_list(record.get(name)) for name in names] for record in records)
    cells = ([json_line(x) if isinstance(x, list | dict | bool) else x for x in row] for row in rows)
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([names, *cells] if names else [])
    return out.getvalue().encode()


def check_unique(names: Iterable[str], where: str) -> None:
    """Refuse names of which two are the same: a table by names would keep one of the two columns, and not say which.

    >>> check_unique(["id", "score", "id"], "a.csv, line 1")
    Traceback (most recent call last):
    ValueError: a.csv, line 1: the name 'id' occurs twice. Rename or remove one of the two.
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{where}: the name {name!r:.60} occurs twice. Rename or remove one of the two.")
        seen.add(name)
