"""Files of items for `select` and `baskets`: JSON Lines, CSV and TSV to read and write, Parquet and NumPy to read."""

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
from dpplearn.cli.items import Items

Name = TypeVar("Name", str, str | None)
READABLE = ("jsonl", "csv", "tsv", "parquet", "npy")
WRITABLE = READABLE[:3]


def format_of(path: Path, known: Sequence[str], advice: str) -> str:
    """The format that the ending of a file's name stands for."""
    if (end := path.suffix.lower().removeprefix(".")) in known:
        return end
    raise ValueError(f"{path} must end in one of .{', .'.join(known)}, so that its format is known. {advice}")


def read_items(path: Path, encoding: str = "utf-8", ndim: int | None = 2) -> Items:
    """Read items in the format of the file's ending; the path - is standard input, in JSON Lines.

    `ndim` is the number of dimensions that an array must have; None allows numbers of items as well as rows.
    """
    if str(path) == "-":
        return read_jsonl(sys.stdin.buffer, "standard input", encoding)
    end = format_of(path, READABLE, "Rename it; a .json list of objects becomes .jsonl by: jq -c '.[]'.")
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
    """A table with names in line 1. If that has more semicolons, tabs or bars than delimiters, they separate."""
    lines = (line.text() for line in read_lines(path, path, encoding))
    head = next(lines, "")
    delimiter = max(delimiter, *";\t,|", key=re.sub('"[^"]*"', "", head).count)  # on a tie the first
    rows = csv_rows(chain([head], lines), path, delimiter)
    names = next(rows, (1, []))[1]
    check_unique(names, f"{path}, line 1")
    table, places = [], []
    for line, cells in rows:
        if cells:
            if len(cells) != len(names):
                raise ValueError(f"{path}, line {line}: found {len(cells)} cells, but {len(names)} names in line 1.")
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
        raise ValueError(f"{name} is not a Parquet file, or was cut short: {str(error).rstrip('.')}.") from None
    check_unique(file.schema_arrow.names, name)
    return Items(name, dict.fromkeys(file.schema_arrow.names), file.metadata.num_rows, file=file)


def read_npy(name: str, field: str = "embedding", ndim: int | None = 2) -> Items:
    """An array with a row for each item (with one dimension, a number), as a memory map."""
    try:
        array = np.load(name, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        why = "it holds no array of numbers" if "pickle" in str(error) else str(error).rstrip(".")
        raise ValueError(f"{name} cannot be read as a NumPy array: {why}. Write it with numpy.save.") from None
    if ndim is None and getattr(array, "ndim", 2) == 1:
        ndim, field = 1, "item"
    if not isinstance(array, np.ndarray) or array.ndim != (ndim or 2):
        shape, row = getattr(array, "shape", "several arrays"), "a number" if ndim == 1 else "a row of numbers"
        raise ValueError(f"{name} must hold an array with {row} for each item, found {shape}.")
    return Items(name, {field: array}, len(array))


def array_beside(items: Items, named: Name, field: str, ndim: int) -> tuple[Items, Name]:
    """The table that has a field, and the field's name there: the items, or an .npy file that is given as the name."""
    if named is None or named in items.fields or not named.lower().endswith(".npy"):
        return items, named
    file = read_npy(named, field, ndim)
    if file.n != items.n:
        raise ValueError(f"{named} must have a row for each item of {items.name}, {items.n}, but has {file.n}.")
    return file, field


def write_items(items: Items, subset: IntArray, end: str) -> bytes:
    """Some of the items in a format. Lines of JSON Lines are copied, so that 0.10 and 1e2 stay as they were.

    Cells of CSV are copied, too: empty if a value is missing, lists and objects as JSON, which `read_items` reads.
    """
    records = items.take(subset)
    if end == "jsonl":
        lines = map(json_line, records) if items.lines is None else (items.lines[i] for i in subset)
        return "".join(line + "\n" for line in lines).encode("utf-8", "backslashreplace")
    names, out = list(records[0]) if records else items.fields, io.StringIO()
    rows = ([as_list(record.get(name)) for name in names] for record in records)
    cells = ([json_line(x) if isinstance(x, list | dict | bool) else x for x in row] for row in rows)
    writer = csv.writer(out, delimiter="\t" if end == "tsv" else items.delimiter, lineterminator="\n")
    writer.writerows([names, *cells] if names else [])
    return out.getvalue().encode()


def as_list(value: Any) -> Any:
    """Lists and numbers of Python for those of numpy."""
    if not isinstance(value, np.ndarray | np.generic):
        return value
    return (value.astype(np.float64) if value.dtype.char == "g" else value).tolist()  # long doubles stay numpy's


def json_line(value: Any) -> str:
    """JSON on one line, with arrays as lists, and values without a JSON type, such as dates, as texts."""
    return json.dumps(value, ensure_ascii=False, default=lambda x: as_list(x) if hasattr(x, "tolist") else str(x))


def check_unique(names: Iterable[str], where: str) -> None:
    """Refuse equal names: of two columns with one name, the table would keep only the last.

    >>> check_unique(["id", "score", "id"], "a.csv, line 1")
    Traceback (most recent call last):
    ValueError: a.csv, line 1: the name 'id' occurs twice. Rename or remove one of the two.
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{where}: the name {name!r:.60} occurs twice. Rename or remove one of the two.")
        seen.add(name)
