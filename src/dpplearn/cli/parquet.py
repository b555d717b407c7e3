"""Parquet as items: columns are read when asked for, embeddings piece by piece, records of chosen rows only."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._holders import as_columns, check_fields, join, piece_rows
from dpplearn.cli.items import Items, not_finite

BATCH = 65536  # rows of an embedding that are read at a time


def need_pyarrow(what: str) -> Any:
    """The module, or an error that says what to do without it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            f'{what} needs pyarrow, which is not installed. Run pip install "dpplearn[tables]", or give .jsonl, .csv '
            "or .npz."
        ) from None
    return pyarrow


class Made(Sequence[Any]):
    """A list whose entries are made when they are asked for: one by one, or, where `every` is given, all in a row."""

    def __init__(self, size: int, make: Callable[[int], Any], every: Callable[[], Iterator[Any]] | None = None) -> None:
        self.size, self.make, self.every = size, make, every

    def __iter__(self) -> Iterator[Any]:
        return map(self.make, range(self.size)) if self.every is None else self.every()

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, i: Any) -> Any:
        if not -self.size <= i < self.size:
            raise IndexError(i)
        return self.make(int(i) % self.size)


@dataclass(frozen=True, eq=False)
class ParquetItems(Items):
    """Items of which `origin` is an open ParquetFile."""

    @property
    def fields(self) -> list[str]:
        """The names of the columns."""
        return list(self.origin.schema_arrow.names)

    def has(self, name: str) -> bool:
        return name in self.fields

    def get(self, name: str) -> Sequence[Any]:
        found: Sequence[Any] = self.read([name]).column(0).to_pylist() if self.has(name) else [None] * len(self.records)
        return found

    def read(self, names: list[str]) -> Any:
        """Some columns, as a table."""
        return self.origin.read(columns=names)

    def numbers(self, name: str) -> FloatArray:
        if self.has(name):
            column = self.read([name]).column(0)
            if not column.null_count:
                values = column.to_numpy()
                if values.dtype.kind in "fiu" and np.isfinite(values).all():
                    return values.astype(np.float64)
        return super().numbers(name)  # says which row is wrong

    def matrix(self, names: list[str]) -> FloatArray:
        try:
            return as_columns(self.read(names).columns, names, self.name)
        except TypeError as error:
            raise ValueError(str(error)) from None

    def vectors(self, name: str) -> np.ndarray:
        """Rows in their own type, read in pieces: at no time are there two copies."""
        if not self.has(name):
            return super().vectors(name)
        kind = self.origin.schema_arrow.field(name).type
        if not hasattr(kind, "value_type") or np.dtype(kind.value_type.to_pandas_dtype()).kind not in "fiu":
            return super().vectors(name)  # says what is wrong
        batches = self.origin.iter_batches(BATCH, columns=[name])

        def pieces() -> Iterator[np.ndarray]:
            start = 0
            for batch in batches:
                part = piece_rows(batch.column(0), f"{self.name}: the field {name!r}", start)
                if part.dtype.kind == "f" and not np.isfinite(part).all():
                    bad = start + int(np.flatnonzero(~np.isfinite(part).all(axis=1))[0])
                    raise ValueError(not_finite(self.places[bad], name, part[bad - start]))
                yield part
                start += len(part)

        return join(pieces(), len(self.records), f"{self.name}: the field {name!r}")

    def take(self, subset: IntArray) -> Any:
        """The rows of a set, in its order, as a table; group by group, so that no more than one is in memory."""
        import pyarrow

        file, order = self.origin, np.argsort(subset, kind="stable")
        wanted, start, parts = subset[order], 0, [self.origin.schema_arrow.empty_table()]
        for group in range(file.num_row_groups):
            end = start + file.metadata.row_group(group).num_rows
            inside = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, end)]
            if inside.size:
                parts.append(file.read_row_group(group).take(inside - start))
            start = end
        back = np.empty_like(order)
        back[order] = np.arange(order.size)
        return pyarrow.concat_tables(parts).take(back)


def read_parquet(source: str | BinaryIO, name: str) -> ParquetItems:
    """The items of a file."""
    pyarrow = need_pyarrow(f"Reading {name}")
    try:
        file = pyarrow.parquet.ParquetFile(source)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{name} is not a Parquet file, or was cut short: {error}.") from None
    check_fields(file.schema_arrow, name)
    n = file.metadata.num_rows

    def record(i: int) -> dict[str, Any]:
        found: dict[str, Any] = items.take(np.array([i])).to_pylist()[0]
        return found

    def records() -> Iterator[dict[str, Any]]:
        for batch in file.iter_batches(BATCH):
            yield from batch.to_pylist()

    items = ParquetItems(
        name, "parquet", Made(n, record, records), Made(n, lambda i: f"{name}, row {i} (from 0)"), origin=file
    )
    return items


def write_parquet(items: Items, subset: IntArray, records: list[dict[str, Any]]) -> bytes:
    """Chosen items as Parquet; of items that were so, with the types they had."""
    pyarrow = need_pyarrow("Writing Parquet")
    out = io.BytesIO()
    try:
        if isinstance(items, ParquetItems):
            table = items.take(subset)
        else:
            names = dict.fromkeys(name for record in records for name in record)
            table = pyarrow.table({name: [as_list(record.get(name)) for record in records] for name in names})
    except (pyarrow.ArrowException, TypeError) as error:
        raise ValueError(f"The items cannot be a Parquet table: {error}. Write .jsonl, which takes anything.") from None
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()


def as_list(value: Any) -> Any:
    """Arrays and numpy's numbers as Python's own, which for longer floats numpy itself does not give."""
    if not isinstance(value, np.ndarray | np.generic):
        return value
    return (value.astype(np.float64) if value.dtype.char == "g" else value).tolist()
