"""A table of items, whatever file it came from: columns by name, and the place of everything that is missing or wrong.

Large files stay where they are: of Parquet, columns are read when asked for, embeddings piece by piece, and records of
chosen rows only; an .npy array is a memory map.
"""

from __future__ import annotations

import fnmatch
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._holders import as_columns, join, piece_rows, read_groups
from dpplearn._io.jsonlines import parse_json
from dpplearn.decoding.dask import Part, read_array
from dpplearn.learning.columns import is_missing

BATCH = 16384  # rows of an embedding that are looked at together
BYTES = 2**28  # of embeddings in a part, about
FEWEST, SMALLEST = 8, 20_000  # parts, unless they would have fewer rows than this
Record = dict[str, Any]


def rows_in_part(n: int, width: int) -> int:
    """How many rows of so many bytes a part has."""
    return max(1, min(BYTES // max(1, width), max(SMALLEST, -(-n // FEWEST))))


def is_number(value: Any) -> bool:
    """Whether a cell holds one number."""
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False


class Items(ABC):
    """Items in the order of the file; a kind of file says how to `get` a column and `take` rows."""

    def __init__(self, name: str, n: int, fields: list[str]) -> None:
        self.name, self.n, self.fields = name, n, fields  # of the file, for messages; items; names of their fields

    @abstractmethod
    def get(self, name: str) -> Sequence[Any] | np.ndarray:
        """A field of every item, None where it is missing."""

    @abstractmethod
    def take(self, subset: IntArray) -> list[Record]:
        """Some of the items, in this order."""

    def parts(self, embedding: str) -> tuple[list[Part], int]:  # noqa: ARG002  # for those that have parts
        """Parts of the rows, which workers read where they lie, and how many numbers a row has."""
        raise ValueError(
            f"--work reads .parquet and .npy files, where rows are found without the others: not {self.name}."
        )

    def where(self, i: int) -> str:
        """The place of an item in the file."""
        return f"row {i} (from 0)"

    def place(self, i: int) -> str:
        """The same, with the name of the file."""
        return f"{self.name}, {self.where(i)}"

    def column(self, name: str, *, missing: bool = False) -> Sequence[Any] | np.ndarray:
        """A field that every item must have, or that may be missing in some."""
        if name not in self.fields:
            found = ", ".join(self.fields) or "none"
            raise ValueError(f"{self.name} has no field {name!r}. Fields found: {found}.")
        values = self.get(name)
        if not missing and not isinstance(values, np.ndarray):
            self._check(name, [value is None for value in values])
        return values

    def _check(self, name: str, missing: list[bool]) -> None:
        if any(missing):
            place = self.place(missing.index(True))
            raise ValueError(f"{place}: the field {name!r} is empty or missing. Fill it, or leave out what has none.")

    def texts(self, name: str) -> list[str]:
        """A text from every item."""
        values = list(self.column(name))
        for i, value in enumerate(values):
            if not isinstance(value, str):
                raise ValueError(f"{self.place(i)}: the field {name!r} must be a text, found {value!r:.40}.")
        return values

    def groups(self, name: str) -> list[str]:
        """The group of every item, as text; an empty one would be a group of items that have none."""
        values = list(self.column(name))
        self._check(name, [is_missing(value) for value in values])
        return [str(value) for value in values]

    def numbers(self, name: str) -> FloatArray:
        """A number from every item."""
        values = self.column(name)
        if isinstance(values, np.ndarray):
            if values.ndim == 1 and values.dtype.kind in "fiu" and np.isfinite(values).all():
                return values.astype(np.float64)
            values = values.tolist()
        return np.array([self._number(i, name, value) for i, value in enumerate(values)], np.float64)

    def _number(self, i: int, name: str, value: Any) -> float:
        try:
            number = float(value) if not isinstance(value, bool) else math.nan
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(f"{self.place(i)}: the field {name!r} must be a finite number, found {value!r:.40}.")
        return number

    def wide(self, pattern: str) -> list[str]:
        """The fields that "first:last" or "e*" names, in the order of the file; none where it is a field's own name."""
        names = self.fields
        if pattern in names:
            stem = re.sub(r"\d+$", "", pattern)
            many = [name for name in names if re.fullmatch(re.escape(stem) + r"\d+", name)]
            if stem and pattern in many and len(many) > 1 and is_number(self.take(np.zeros(1, np.int64))[0][pattern]):
                raise ValueError(
                    f"{self.place(0)}: the field {pattern!r} is one number, and plainly one of {len(many)} that "
                    f"are an embedding together. Give --embedding {many[0]}:{many[-1]} or '{stem}*'."
                )
            return []
        first, colon, last = pattern.partition(":")
        if colon and first in names and last in names and names.index(first) <= names.index(last):
            return names[names.index(first) : names.index(last) + 1]
        found = fnmatch.filter(names, pattern) if "*" in pattern else []
        if not found and (colon or "*" in pattern):
            raise ValueError(f"{self.name} has no fields {pattern!r}. Fields found: {', '.join(names)}.")
        return found

    def matrix(self, names: list[str]) -> np.ndarray:
        """A number from each of several fields of every item."""
        return np.column_stack([self.numbers(name) for name in names])

    def vectors(self, name: str) -> np.ndarray:
        """A list of numbers from every item, all of the same length."""
        rows: list[np.ndarray] = []
        for i, value in enumerate(self.column(name)):
            row = self._row(i, name, value)
            if rows and row.size != rows[0].size:
                raise ValueError(
                    f"{self.place(i)}: the field {name!r} has {row.size} numbers, and that of the first item "
                    f"{rows[0].size}."
                )
            rows.append(row)
        return self.finite(name, np.array(rows))

    def _row(self, i: int, name: str, value: Any) -> np.ndarray:
        """A list of numbers, or a text of one: JSON, or numbers with spaces, commas or semicolons between."""
        place = f"{self.place(i)}: the field {name!r}"
        row, found, hint = value, value, ""
        if isinstance(value, str):
            listed = value.lstrip().startswith("[")
            row = parse_json(value, place, "a JSON list") if listed else re.sub("[,;]", " ", value).split()
            hint = f" To compare texts by their words, give --text {name}."
        try:
            numbers = row if isinstance(row, np.ndarray) else np.array(row, np.float64)
        except (TypeError, ValueError, OverflowError):
            numbers = np.array(None)
            if isinstance(row, list) and not isinstance(value, str):
                found = next((x for x in row if not is_number(x)), value)
        if numbers.ndim != 1 or numbers.size == 0 or numbers.dtype.kind not in "fiub":
            raise ValueError(f"{place} must be a list of finite numbers, found {found!r:.40}.{hint}")
        return numbers

    def finite(self, name: str, rows: np.ndarray, start: int = 0) -> np.ndarray:
        """The same rows, whose first is item `start`, if all their numbers are finite."""
        for low in range(0, len(rows) if rows.dtype.kind == "f" else 0, BATCH):
            bad = np.argwhere(~np.isfinite(rows[low : low + BATCH]))
            if bad.size:
                i, j = (bad[0] + [low, 0]).tolist()
                raise ValueError(
                    f"{self.place(start + i)}: the field {name!r} must hold finite numbers, but number {j} of it is "
                    f"{rows[i, j]}."
                )
        return rows


class Records(Items):
    """Items as dictionaries, where each was found, and, of JSON Lines, the lines as they came."""

    def __init__(
        self, name: str, records: list[Record], places: list[str], fields: list[str] | None = None, lines: Any = None
    ) -> None:
        if fields is None:
            fields = list(dict.fromkeys(field for record in records for field in record))
        super().__init__(name, len(records), fields)
        self.records, self.places, self.lines = records, places, lines

    def get(self, name: str) -> Sequence[Any]:
        return [record.get(name) for record in self.records]

    def take(self, subset: IntArray) -> list[Record]:
        return [self.records[i] for i in subset]

    def where(self, i: int) -> str:
        return self.places[i]


class ArrayItems(Items):
    """Items of NumPy arrays with one row for each."""

    def __init__(self, name: str, arrays: dict[str, np.ndarray]) -> None:
        super().__init__(name, len(next(iter(arrays.values()), ())), list(arrays))
        self.arrays = arrays

    def get(self, name: str) -> Sequence[Any] | np.ndarray:
        array = self.arrays[name]
        return array.tolist() if array.dtype.kind not in "fiubc" and array.ndim == 1 else array

    def take(self, subset: IntArray) -> list[Record]:
        some = {name: array[subset] for name, array in self.arrays.items()}
        columns = {name: list(array) if array.ndim > 1 else array.tolist() for name, array in some.items()}
        return [{"item": int(i)} | {name: column[k] for name, column in columns.items()} for k, i in enumerate(subset)]

    def vectors(self, name: str) -> np.ndarray:
        """The array where it lies, not copied."""
        whole = self.arrays.get(name)
        if whole is None or whole.ndim != 2 or whole.dtype.kind not in "fiub":
            return super().vectors(name)  # says what is wrong
        return self.finite(name, np.asarray(whole))

    def parts(self, embedding: str) -> tuple[list[Part], int]:
        whole = self.arrays.get(embedding)
        if not isinstance(whole, np.memmap):
            return super().parts(embedding)
        step = rows_in_part(self.n, whole.shape[1] * whole.itemsize)
        bounds = [(a, min(a + step, self.n)) for a in range(0, self.n, step)]
        key = version(self.name)
        return [Part(a, b, read_array, (self.name, a, b), f"{key}-{a}-{b}") for a, b in bounds], whole.shape[1]


class ParquetItems(Items):
    """Items of an open ParquetFile."""

    def __init__(self, name: str, file: Any) -> None:
        super().__init__(name, file.metadata.num_rows, list(file.schema_arrow.names))
        self.file = file
        self.sizes = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]

    def get(self, name: str) -> Sequence[Any] | np.ndarray:
        column = self.file.read(columns=[name]).column(0)
        number = column.type.num_fields == 0 and not column.null_count and column.to_numpy().dtype.kind in "fiu"
        found: Sequence[Any] | np.ndarray = column.to_numpy() if number else column.to_pylist()
        return found

    def matrix(self, names: list[str]) -> np.ndarray:
        try:
            return as_columns(self.file.read(columns=names).columns, names, self.name)
        except TypeError as error:
            raise ValueError(str(error)) from None

    def vectors(self, name: str) -> np.ndarray:
        """Rows in their own type, read in pieces: at no time are there two copies."""
        kind: Any = self.file.schema_arrow.field(name).type if name in self.fields else None
        if not hasattr(kind, "value_type") or np.dtype(kind.value_type.to_pandas_dtype()).kind not in "fiu":
            return super().vectors(name)  # says what is wrong
        what = f"{self.name}: the field {name!r}"

        def pieces() -> Iterator[np.ndarray]:
            start = 0
            for batch in self.file.iter_batches(BATCH, columns=[name]):
                yield self.finite(name, piece_rows(batch.column(0), what, start), start)
                start += len(batch)

        return join(pieces(), self.n, what)

    def table(self, subset: IntArray) -> Any:
        """The rows of a set, in its order; group by group, so that no more than one is in memory."""
        import pyarrow

        order = np.argsort(subset, kind="stable")
        wanted, start, found = subset[order], 0, [self.file.schema_arrow.empty_table()]
        for group, size in enumerate(self.sizes):
            inside = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, start + size)]
            if inside.size:
                found.append(self.file.read_row_group(group).take(inside - start))
            start += size
        return pyarrow.concat_tables(found).take(np.argsort(order))

    def take(self, subset: IntArray) -> list[Record]:
        found: list[Record] = self.table(subset).to_pylist()
        return found

    def parts(self, embedding: str) -> tuple[list[Part], int]:
        """Row groups, as many together as make a part."""
        names = self.wide(embedding) or [embedding]
        if names[0] not in self.fields:
            self.column(names[0])  # says so
        head = read_groups(self.name, names, [0])
        step = rows_in_part(self.n, head.shape[1] * head.itemsize)
        parts: list[Part] = []
        groups: list[int] = []
        start, end, key = 0, 0, version(self.name)
        for g, size in enumerate(self.sizes):
            groups, end = [*groups, g], end + size
            if end - start >= step or end == self.n:
                parts.append(Part(start, end, read_groups, (self.name, names, groups), f"{key}-{names}-{groups}"))
                start, groups = end, []
        return parts, head.shape[1]


def version(name: str) -> str:
    """Tells a file from others, and from what it was before it was changed."""
    state = Path(name).stat()
    return f"{Path(name).resolve()}-{state.st_size}-{state.st_mtime_ns}"
