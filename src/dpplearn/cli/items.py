"""Items from JSON Lines, CSV, Parquet and NumPy files, with the place of everything that is missing or wrong."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.rouge.files import read_text, records

SUFFIXES = (".jsonl", ".csv", ".parquet", ".npz")


@dataclass(frozen=True, eq=False)
class Items:
    """Records in the order of the file, and where each was found."""

    path: Path
    records: list[dict[str, Any]]
    places: list[str]
    names: list[str] | None = None  # the first line of a CSV file

    def write(self, subset: IntArray) -> str:
        """Some of the records as lines: CSV if they came so, else JSON."""
        if self.names is not None:
            out = io.StringIO()
            rows = ([self.records[i][name] for name in self.names] for i in subset)
            csv.writer(out, lineterminator="\n").writerows([self.names, *rows])
            return out.getvalue()
        return "".join(json.dumps(self.records[i], ensure_ascii=False, default=plain) + "\n" for i in subset)

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
            if rows and len(row) != len(rows[0]):
                raise ValueError(
                    f"{place}: the field {name!r} has {len(row)} numbers, and that of the first item {len(rows[0])}."
                )
            try:
                numbers = row if isinstance(row, np.ndarray) else np.array(row, np.float64)
            except (TypeError, ValueError):
                numbers = np.array([self._number(x, name, place) for x in row])  # says which it is
            if numbers.dtype.kind not in "fiu" or not np.isfinite(numbers).all():
                raise ValueError(f"{place}: the field {name!r} must hold finite numbers, found {value!r:.60}.")
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


def read_items(path: Path, encoding: str = "utf-8") -> Items:
    """Read a file of items by the end of its name."""
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        return read_jsonl(path, encoding)
    if suffix == ".csv":
        return read_csv(path, encoding)
    if suffix == ".parquet":
        return read_parquet(path)
    if suffix == ".npz":
        return read_npz(path)
    raise ValueError(f"{path} must end in one of {', '.join(SUFFIXES)}, so that its format is known.")


def read_jsonl(path: Path, encoding: str) -> Items:
    places, found = [], []
    for place, record in records(path, encoding):
        places.append(place)
        found.append(record)
    return Items(path, found, places)


def read_csv(path: Path, encoding: str) -> Items:
    text = read_text(path, encoding).removeprefix("\ufeff")
    csv.field_size_limit(2**31 - 1)  # a cell may hold an embedding
    reader = csv.reader(io.StringIO(text, newline=""))
    names = next(reader, None)
    if names is not None and len(set(names)) < len(names):
        raise ValueError(f"{path}, line 1: a name occurs twice among {', '.join(names)}. Rename one.")
    found, places = [], []
    start = reader.line_num + 1
    for cells in reader:
        if names is not None and cells:
            if len(cells) != len(names):
                raise ValueError(f"{path}, line {start}: found {len(cells)} cells, and {len(names)} names in line 1.")
            found.append(dict(zip(names, cells, strict=True)))
            places.append(f"{path}, line {start}")
        start = reader.line_num + 1
    return Items(path, found, places, names)


def read_parquet(path: Path) -> Items:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise ValueError(
            f"Reading {path} needs pyarrow, which is not installed. "
            "Run pip install pyarrow, or give .jsonl, .csv or .npz."
        ) from None
    try:
        found = parquet.read_table(path).to_pylist()
    except ArrowException as error:
        raise ValueError(f"{path} is not a Parquet file, or was cut short: {error}.") from None
    return Items(path, found, [f"{path}, row {i} (from 0)" for i in range(len(found))])


def read_npz(path: Path) -> Items:
    """Arrays with one row per item; each array is a field."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path} is not a file of NumPy arrays that can be read without pickle: {error}.") from None
    sizes = {name: array.shape[0] for name, array in arrays.items() if array.ndim}
    if len(sizes) < len(arrays) or len(set(sizes.values())) > 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"{path} must hold arrays with one row for each item, found {shapes}.")
    n = next(iter(sizes.values()), 0)
    # numbers and texts as Python's own; rows of embeddings stay views of their array
    columns = {name: list(array) if array.ndim > 1 else array.tolist() for name, array in arrays.items()}
    found = [{"item": i} | {name: column[i] for name, column in columns.items()} for i in range(n)]
    return Items(path, found, [f"{path}, row {i} (from 0)" for i in range(n)])


def plain(x: Any) -> Any:
    """What JSON has no type for: arrays as lists, dates as text."""
    return x.tolist() if isinstance(x, np.ndarray | np.generic) else str(x)
