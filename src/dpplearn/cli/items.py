"""Items from JSON Lines, CSV, Parquet and NumPy files, with the place of everything that is missing or wrong."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._io.encoding import decode
from dpplearn._io.jsonlines import json_lines

FORMATS = ("jsonl", "csv", "parquet", "npz")
ADVICE = "Each line must hold one object. For another format than JSON Lines, give --format."
Source = Path | io.BytesIO  # a file, or standard input as it was read


@dataclass(frozen=True, eq=False)
class Items:
    """Records in the order of the file, and where each was found."""

    name: str  # of the file, for messages
    format: str
    records: list[dict[str, Any]]
    places: list[str]
    names: list[str] | None = None  # the first line of a CSV file
    origin: Any = None  # the Arrow table or the NumPy arrays that they were read from

    def has(self, name: str) -> bool:
        """Whether the first record has the field."""
        return bool(self.records) and name in self.records[0]

    def column(self, name: str) -> Iterator[tuple[Any, str]]:
        """The field of every record, with its place."""
        for record, place in zip(self.records, self.places, strict=True):
            if record.get(name) is None:
                found = ", ".join(record) or "none"
                raise ValueError(f"{place}: the field {name!r} is missing. Fields found: {found}.")
            yield record[name], place

    def numbers(self, name: str) -> FloatArray:
        """A number from every record."""
        return np.array([self._number(value, name, place) for value, place in self.column(name)], np.float64)

    def texts(self, name: str) -> list[str]:
        """A text from every record."""
        found = list(self.column(name))
        for value, place in found:
            if not isinstance(value, str):
                raise ValueError(f"{place}: the field {name!r} must be a text, found {value!r:.40}.")
        return [value for value, _ in found]

    def vectors(self, name: str) -> np.ndarray:
        """A list of numbers from every record, all of the same length; numpy's own type where the file has one."""
        rows: list[Any] = []
        for value, place in self.column(name):
            row = self._list(value, name, place) if isinstance(value, str) else value
            if not isinstance(row, list | tuple | np.ndarray) or np.ndim(row) != 1 or len(row) == 0:
                raise ValueError(f"{place}: the field {name!r} must be a list of numbers, found {value!r:.40}.")
            try:
                numbers = row if isinstance(row, np.ndarray) else np.array(row, np.float64)
            except (TypeError, ValueError):
                if isinstance(value, str):
                    raise ValueError(
                        f"{place}: the field {name!r} must be a list of numbers, found the text {value!r:.40}. "
                        f"To compare texts by their words, give --text {name}."
                    ) from None
                numbers = np.array([self._number(x, name, place) for x in row])  # says which it is
            if numbers.dtype.kind not in "fiu" or not np.isfinite(numbers).all():
                raise ValueError(f"{place}: the field {name!r} must hold finite numbers, found {value!r:.60}.")
            if rows and len(row) != len(rows[0]):
                raise ValueError(
                    f"{place}: the field {name!r} has {len(row)} numbers, and that of the first item {len(rows[0])}."
                )
            rows.append(numbers)
        return np.array(rows)

    @staticmethod
    def _list(value: str, name: str, place: str) -> Any:
        """A list from a CSV cell: JSON, or numbers with spaces, commas or semicolons between."""
        if value.lstrip().startswith("["):
            try:
                return json.loads(value)
            except json.JSONDecodeError as error:
                raise ValueError(f"{place}: the field {name!r} is not a JSON list: {error.msg}.") from None
        return value.replace(",", " ").replace(";", " ").split()

    @staticmethod
    def _number(value: Any, name: str, place: str) -> float:
        try:
            number = float(value) if not isinstance(value, bool) else math.nan
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(f"{place}: the field {name!r} must be a finite number, found {value!r:.40}.")
        return number


def format_of(path: Path, what: str) -> str:
    """The format that the end of a file's name says."""
    if path.suffix.lower().removeprefix(".") in FORMATS:
        return path.suffix.lower().removeprefix(".")
    ends = ", ".join(f".{known}" for known in FORMATS)
    raise ValueError(f"{path} must end in one of {ends}, so that its format is known. {what}")


def read_items(path: Path, encoding: str = "utf-8", given: str | None = None) -> Items:
    """Read items in the format given, or that the end of the file's name says; - is standard input, in JSON Lines."""
    source: Source = path
    if str(path) == "-":
        name, source, found = "standard input", io.BytesIO(sys.stdin.buffer.read()), given or "jsonl"
    else:
        name, found = str(path), given or format_of(path, "Rename it, or say the format by --format.")
    if found == "jsonl":
        return read_jsonl(source, name, encoding)
    if found == "csv":
        return read_csv(source, name, encoding)
    return (read_parquet if found == "parquet" else read_npz)(source, name)


def text_of(source: Source, name: str, encoding: str) -> str:
    data = source.read_bytes() if isinstance(source, Path) else source.getvalue()
    return decode(data, name, encoding).removeprefix("\ufeff")


def read_jsonl(source: Source, name: str, encoding: str) -> Items:
    places, found = [], []
    for place, record in json_lines(text_of(source, name, encoding), name, ADVICE):
        places.append(place)
        found.append(record)
    return Items(name, "jsonl", found, places)


def read_csv(source: Source, name: str, encoding: str) -> Items:
    text = text_of(source, name, encoding)
    csv.field_size_limit(2**31 - 1)  # a cell may hold an embedding
    reader = csv.reader(io.StringIO(text, newline=""))
    names = next(reader, None)
    if names is not None and len(set(names)) < len(names):
        raise ValueError(f"{name}, line 1: a name occurs twice among {', '.join(names)}. Rename one.")
    found, places = [], []
    start = reader.line_num + 1
    for cells in reader:
        if names is not None and cells:
            if len(cells) != len(names):
                raise ValueError(f"{name}, line {start}: found {len(cells)} cells, and {len(names)} names in line 1.")
            found.append(dict(zip(names, cells, strict=True)))
            places.append(f"{name}, line {start}")
        start = reader.line_num + 1
    return Items(name, "csv", found, places, names)


def need_pyarrow(what: str) -> Any:
    """The module, or an error that says what to do without it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            f"{what} needs pyarrow, which is not installed. Run pip install pyarrow, or give .jsonl, .csv or .npz."
        ) from None
    return pyarrow


def read_parquet(source: Source, name: str) -> Items:
    pyarrow = need_pyarrow(f"Reading {name}")
    try:
        table = pyarrow.parquet.read_table(source)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{name} is not a Parquet file, or was cut short: {error}.") from None
    found = table.to_pylist()
    return Items(name, "parquet", found, [f"{name}, row {i} (from 0)" for i in range(len(found))], origin=table)


def read_npz(source: Source, name: str) -> Items:
    """Arrays with one row per item; each array is a field."""
    try:
        with source.open("rb") if isinstance(source, Path) else source as stream:
            file = np.load(stream, allow_pickle=False)
            arrays = {key: file[key] for key in file.files}
    except AttributeError:
        raise ValueError(f"{name} holds one array without a name. Save arrays with np.savez.") from None
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{name} is not a file of NumPy arrays that can be read without pickle: {error}.") from None
    sizes = {key: array.shape[0] for key, array in arrays.items() if array.ndim}
    if len(sizes) < len(arrays) or len(set(sizes.values())) > 1:
        shapes = ", ".join(f"{key} {array.shape}" for key, array in arrays.items())
        raise ValueError(f"{name} must hold arrays with one row for each item, found {shapes}.")
    n = next(iter(sizes.values()), 0)
    # numbers and texts as Python's own; rows of embeddings stay views of their array
    columns = {key: list(array) if array.ndim > 1 else array.tolist() for key, array in arrays.items()}
    found = [{"item": i} | {key: column[i] for key, column in columns.items()} for i in range(n)]
    return Items(name, "npz", found, [f"{name}, row {i} (from 0)" for i in range(n)], origin=arrays)
