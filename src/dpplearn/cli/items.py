"""The table of items that `select` and `baskets` read, whatever file it came from; errors name the line that is wrong.

Large files are not read whole. A column of Parquet is read when it is needed, embeddings piece by piece, and records
only of the chosen rows. An .npy array is a memory map.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._holders import arrow_rows
from dpplearn._io.jsonfile import parse_json
from dpplearn.decoding.dask import Part, read_array
from dpplearn.learning.columns import is_missing

BATCH = 16384  # rows of an embedding that are checked at once
BYTES = 2**28  # of embeddings in a part, about
FEWEST_PARTS, SMALLEST = 8, 20_000  # there are at least so many parts, unless they would have fewer rows than this
Record = dict[str, Any]
EMPTY = "is empty or missing. Fill it, or remove the items without it."
THOUSANDS = re.compile(r"\s*[+-]?[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]*)?\s*$")  # points between thousands


def as_number(value: Any) -> float:
    """The number in a cell, which may be text; NaN where it is not a number."""
    try:
        return math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def with_point(cell: str) -> str:
    """A number with a decimal comma, and perhaps points between thousands, in Python's notation.

    >>> with_point("1.450"), with_point("2.300.000,50"), with_point("4,5"), with_point("1.5")
    ('1450', '2300000.50', '4.5', '1.5')
    """
    return (cell.replace(".", "") if THOUSANDS.match(cell) else cell).replace(",", ".")


@dataclass(eq=False)
class Items:
    """Items in the order of their file `name`: columns in memory, or an open Parquet `file`.

    `places` says where in the file each item is, and `lines` are the lines of JSON Lines, unchanged. If the `delimiter`
    of cells is a semicolon, a comma in a number is a decimal comma.
    """

    name: str
    columns: Mapping[str, Any]
    n: int
    places: list[str] | None = None
    lines: list[str] | None = None
    file: Any = None
    delimiter: str = ","

    @property
    def fields(self) -> list[str]:
        return list(self.columns)

    def get(self, name: str) -> Sequence[Any] | np.ndarray:
        """A field of every item, None where it is missing; an array if all values are numbers."""
        if self.file is None:
            values: Any = self.columns[name]
            is_list = isinstance(values, np.ndarray) and values.dtype.kind not in "fiubc" and values.ndim == 1
            return values.tolist() if is_list else values
        column = self.file.read(columns=[name]).column(0)
        if column.type.num_fields == 0 and not column.null_count and column.to_numpy().dtype.kind in "fiu":
            return np.asarray(column.to_numpy())
        return list(column.to_pylist())

    def take(self, subset: IntArray) -> list[Record]:
        """Some of the items, in this order. Rows of an array get a field with their number."""
        if self.file is not None:  # the file is read piece by piece, and only these rows are kept
            from pyarrow import dataset

            return list(dataset.dataset(Path(self.name), format="parquet").take(subset).to_pylist())
        names, columns = list(self.columns), [[column[i] for i in subset] for column in self.columns.values()]
        if self.places is None:
            names, columns = ["item", *names], [subset.tolist(), *columns]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def parts(self, embedding: str) -> tuple[list[Part], int]:
        """Parts of the file that processes read by themselves, and how many numbers a row has."""
        array: Any = self.columns.get(embedding)
        if self.file is None and not isinstance(array, np.memmap):
            raise ValueError(f"--work reads only .parquet and .npy files, and not {self.name}.")
        names = self.wide(embedding) or [embedding]
        if self.file is not None and names[0] not in self.columns:
            raise self.no_field(names[0])
        head = array[:1] if self.file is None else read_groups(self.name, names, [0])
        step = max(1, min(BYTES // max(1, head[:1].nbytes), max(SMALLEST, -(-self.n // FEWEST_PARTS))))
        key = version(self.name)
        if self.file is None:
            bounds = [(a, min(a + step, self.n)) for a in range(0, self.n, step)]
            return [Part(a, b, read_array, (self.name, a, b), f"{key}-{a}-{b}") for a, b in bounds], array.shape[1]
        parts: list[Part] = []
        groups: list[int] = []
        start = end = 0
        for g in range(self.file.num_row_groups):  # several small groups make a part
            groups, end = [*groups, g], end + self.file.metadata.row_group(g).num_rows
            if end - start >= step or end == self.n:
                parts.append(Part(start, end, read_groups, (self.name, names, groups), f"{key}-{names}-{groups}"))
                start, groups = end, []
        return parts, head.shape[1]

    def where(self, i: int) -> str:
        """Where in the file an item is."""
        return f"row {i} (from 0)" if self.places is None else self.places[i]

    def place(self, i: int) -> str:
        """Where an item is, with the name of the file."""
        return f"{self.name}, {self.where(i)}"

    def column(self, name: str, *, missing: bool = False) -> Sequence[Any] | np.ndarray:
        """A field of every item; an error if one lacks it, unless it may be missing."""
        if name not in self.columns:
            raise self.no_field(name)
        values = self.get(name)
        if not missing and not isinstance(values, np.ndarray):
            self._refuse(name, values, lambda value: value is None, EMPTY)
        return values

    def no_field(self, name: str) -> ValueError:
        return ValueError(f"{self.name} has no field {name!r}. Fields found: {', '.join(self.columns) or 'none'}.")

    def _refuse(self, name: str, values: Sequence[Any], is_bad: Callable[[Any], bool], message: str) -> None:
        """Raise an error for the first value that is bad."""
        if (i := next((i for i, value in enumerate(values) if is_bad(value)), None)) is not None:
            raise ValueError(f"{self.place(i)}: the field {name!r} {message.format(repr(values[i])[:40])}")

    def texts(self, name: str) -> list[str]:
        """A field of texts."""
        values = list(self.column(name))
        self._refuse(name, values, lambda value: not isinstance(value, str), "must be a text, found {}.")
        return values

    def groups(self, name: str) -> list[str]:
        """A field of groups, which are texts or numbers, as texts; equal numbers (1, 1.0) are one group."""
        values = list(self.column(name))
        self._refuse(name, values, is_missing, EMPTY)
        self._refuse(name, values, lambda x: isinstance(x, list | dict | np.ndarray), "must be one label, found {}.")
        text = isinstance(values[0], str)
        other = f"is {{}}, but that of the first item is {'a' if text else 'no'} text. Use texts for all items or none."
        self._refuse(name, values, lambda value: isinstance(value, str) != text, other)
        shown: dict[Any, str] = {}
        return [shown.setdefault(value, str(value)) for value in values]

    def numbers(self, name: str) -> FloatArray:
        """A field of numbers."""
        values = self.column(name)
        if isinstance(values, np.ndarray):
            if values.ndim == 1 and values.dtype.kind in "fiu" and np.isfinite(values).all():
                return values.astype(np.float64)
            values = values.tolist()
        values = self.with_points(values)
        numbers = [as_number(value) for value in values]
        self._refuse(name, values, lambda x: not math.isfinite(as_number(x)), "must be a finite number, found {}.")
        return np.array(numbers, np.float64)

    def with_points(self, values: Any) -> Any:
        """The values of a field of numbers, in Python's notation even if the cells have decimal commas."""
        if self.delimiter == ";" and any(isinstance(value, str) and "," in value for value in values):
            return [with_point(value) if isinstance(value, str) else value for value in values]
        return values

    def item_numbers(self, name: str, n: int) -> IntArray:
        """A field of numbers of other items, from 0 to n - 1."""
        numbers = self.numbers(name)
        bad = f"must be the number of an item, from 0 to {n - 1}, found {{}}."
        self._refuse(name, numbers.tolist(), lambda x: x % 1 != 0 or not 0 <= x < n, bad)
        return numbers.astype(np.int64)

    def wide(self, pattern: str) -> list[str]:
        """The fields that "first:last" or "e*" stands for, in the order of the file; empty if a field has this name."""
        names = self.fields
        if pattern in names:
            return []
        first, colon, last = pattern.partition(":")
        if colon and first in names and last in names and names.index(first) <= names.index(last):
            return names[names.index(first) : names.index(last) + 1]
        matching = fnmatch.filter(names, pattern) if "*" in pattern else []
        if not matching and (colon or "*" in pattern):
            raise self.no_field(pattern)
        return matching

    def vectors(self, name: str) -> np.ndarray:
        """A field of lists of numbers, all equally long, or the numbers of several fields side by side.

        Arrays are not copied, and rows of Parquet are read in pieces, in their own type: memory never holds two copies.
        """
        many, array = self.wide(name), self.columns.get(name)
        if self.file is not None and (many or self._holds_lists(name)):
            return self._parquet_rows(name, many or [name])
        if many:
            return np.column_stack([self.numbers(field) for field in many])
        if isinstance(array, np.ndarray) and array.ndim == 2 and array.dtype.kind in "fiub":
            return self.finite(name, np.asarray(array))
        rows = [self._row(i, name, value) for i, value in enumerate(self.column(name))]
        if rows and rows[0].size == 1:
            advice = "If it is in several fields, give --embedding FIRST:LAST or 'e*'."
            raise ValueError(f"{self.place(0)}: the field {name!r} is one number, not an embedding. {advice}")
        for i, row in enumerate(rows):
            if row.size != rows[0].size:
                what = f"has {row.size} numbers, but that of the first item has {rows[0].size}."
                raise ValueError(f"{self.place(i)}: the field {name!r} {what}")
        return self.finite(name, np.array(rows))

    def _holds_lists(self, name: str) -> bool:
        """Whether a column of Parquet holds lists of numbers."""
        kind: Any = self.file.schema_arrow.field(name).type if name in self.columns else None
        return hasattr(kind, "value_type") and np.dtype(kind.value_type.to_pandas_dtype()).kind in "fiu"

    def _parquet_rows(self, name: str, names: list[str]) -> np.ndarray:
        import pyarrow

        what = f"{self.name}: the field {name!r}"

        def pieces() -> Iterator[np.ndarray]:
            start = 0
            for batch in self.file.iter_batches(BATCH, columns=names):
                yield self.finite(name, arrow_rows(pyarrow.Table.from_batches([batch]), what, start), start)
                start += len(batch)

        try:
            return joined(pieces(), self.n, what)
        except TypeError as error:
            raise ValueError(str(error)) from None

    def _row(self, i: int, name: str, value: Any) -> np.ndarray:
        """A list of numbers, or a text with one: a JSON list, or numbers separated by spaces, commas or semicolons."""
        place, row, hint = f"{self.place(i)}: the field {name!r}", value, ""
        if isinstance(value, str):
            is_json = value.lstrip().startswith("[")
            row = parse_json(value, place, "a JSON list") if is_json else re.sub("[,;]", " ", value).split()
            hint = f" To compare texts by their words, give --text {name}."
        try:
            numbers = row if isinstance(row, np.ndarray) else np.array(row, np.float64)
        except (TypeError, ValueError, OverflowError):
            numbers = np.array(None)
        if numbers.ndim != 1 or numbers.size == 0 or numbers.dtype.kind not in "fiub":
            raise ValueError(f"{place} must be a list of finite numbers, found {value!r:.40}.{hint}")
        return numbers

    def finite(self, name: str, rows: np.ndarray, start: int = 0) -> np.ndarray:
        """These rows, unchanged, if all their numbers are finite; the first row is item `start`."""
        for low in range(0, len(rows) if rows.dtype.kind == "f" else 0, BATCH):
            bad = np.argwhere(~np.isfinite(rows[low : low + BATCH]))
            if bad.size:
                i, j = (bad[0] + [low, 0]).tolist()
                what = f"must hold finite numbers, but its number {j} is {rows[i, j]}."
                raise ValueError(f"{self.place(start + i)}: the field {name!r} {what}")
        return rows


def version(name: str) -> str:
    """A text that differs between files, and changes when a file is changed."""
    state = Path(name).stat()
    return f"{Path(name).resolve()}-{state.st_size}-{state.st_mtime_ns}"


def joined(parts: Iterable[np.ndarray], n: int, name: str) -> np.ndarray:
    """Parts with n rows in all as one array; each part is read only when the one before it has been copied."""
    whole, at = np.empty((n, 0)), 0
    for part in parts:
        if at == 0:
            whole = np.empty((n, part.shape[1]), part.dtype)
        elif len(part) and part.shape[1] != whole.shape[1]:
            sizes = f"row {at} has {part.shape[1]} numbers and row 0 has {whole.shape[1]}."
            raise ValueError(f"{name} must be lists of equal length, but {sizes}")
        whole[at : at + len(part)] = part
        at += len(part)
    return whole


def read_groups(path: str, columns: list[str], groups: list[int]) -> np.ndarray:
    """Rows of successive row groups of a Parquet file, from one column of lists or several columns of numbers."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        start = sum(file.metadata.row_group(g).num_rows for g in range(groups[0]))
        return arrow_rows(file.read_row_groups(groups, columns=columns), start=start)
