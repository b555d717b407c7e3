"""Arrow columns as rows of numbers: lists of one length, or a column for each number; in place where in one piece."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dpplearn._checks import check_unique


def is_arrow(x: Any) -> bool:
    """Whether this is an array or a table of pyarrow, which need not be installed."""
    return type(x).__module__.partition(".")[0] == "pyarrow"


def check_fields(fields: Iterable[Any], where: str) -> None:
    """Refuse two columns of one name, inside of columns too: as Python's records, one of the two would be lost."""
    fields = list(fields)
    check_unique([field.name for field in fields], where)
    for field in fields:
        kind = field.type
        while hasattr(kind, "value_type"):  # lists, in whatever number
            kind = kind.value_type
        if hasattr(kind, "get_field_index"):  # a struct
            check_fields(kind, f"{where}, inside of {field.name!r}")


def arrow_rows(x: Any, name: str = "embeddings", start: int = 0) -> np.ndarray:
    """Rows of an Arrow array of lists, or of a table of one such column or of columns of numbers; the first is called
    row `start` where one is wrong.

    Float lists in one piece are read where they lie; those in several pieces, and columns, are put together once.
    """
    if hasattr(x, "column_names"):
        if len(x.column_names) != 1:
            return as_columns([x.column(i) for i in range(len(x.column_names))], x.column_names, name, start)
        x = x.column(0)
    pieces = list(x.chunks) if hasattr(x, "chunks") else [x]
    if len(pieces) == 1:
        return piece_rows(pieces[0], name, start)
    return join((piece_rows(piece, name, at) for piece, at in numbered(pieces, start)), len(x), name, start)


def numbered(pieces: list[Any], start: int) -> Iterable[tuple[Any, int]]:
    """Each piece with the number of its first row."""
    starts = np.cumsum([start, *map(len, pieces)])
    return zip(pieces, starts.tolist(), strict=False)


def join(parts: Iterable[np.ndarray], n: int, name: str, start: int = 0) -> np.ndarray:
    """Parts of n rows in one array, each read when it is its turn; the first is called row `start`."""
    whole, at = np.empty((n, 0)), 0
    for part in parts:
        if at == 0:
            whole = np.empty((n, part.shape[1]), part.dtype)
        elif len(part) and part.shape[1] != whole.shape[1]:
            raise ValueError(
                f"{name} must be lists of equal length, but row {start + at} has {part.shape[1]} numbers and row "
                f"{start} {whole.shape[1]}."
            )
        whole[at : at + len(part)] = part
        at += len(part)
    return whole


def piece_rows(piece: Any, name: str, start: int = 0) -> np.ndarray:
    """Rows of one Arrow array of lists, whose first is row `start`."""
    if piece.null_count:
        row = start + int(np.flatnonzero(np.asarray(piece.is_null()))[0])
        raise ValueError(f"{name} must have a list of numbers in every row, but row {row} has none.")
    if not hasattr(piece, "flatten") or not hasattr(piece.type, "value_type"):
        raise TypeError(f"{name} must be a column of lists, or several columns of numbers, found {piece.type}.")
    values = piece.flatten()  # of what is in the slice, without a copy
    size = getattr(piece.type, "list_size", None)
    if size is None:
        lengths = np.asarray(piece.value_lengths())
        size = int(lengths[0]) if lengths.size else 0
        if (lengths != size).any():
            i = int(np.flatnonzero(lengths != size)[0])
            raise ValueError(
                f"{name} must be lists of equal length, but row {start + i} has {lengths[i]} numbers and row "
                f"{start} {size}."
            )
    if values.null_count:
        row = start + int(np.flatnonzero(np.asarray(values.is_null()))[0]) // max(size, 1)
        raise ValueError(f"{name} must be finite numbers, but row {row} has one that is missing.")
    numbers = values.to_numpy(zero_copy_only=False)
    if numbers.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be lists of numbers, found {piece.type}.")
    return np.asarray(numbers).reshape(len(piece), size)


def as_columns(columns: list[Any], names: list[str], name: str, start: int = 0) -> np.ndarray:
    """One number of each row from each column."""
    n = len(columns[0]) if columns else 0
    arrays = []
    for column, title in zip(columns, names, strict=True):
        if column.null_count:
            row = start + int(np.flatnonzero(np.asarray(column.is_null()))[0])
            raise ValueError(f"{name} must have a number in every column, but row {row} has none in {title!r}.")
        array = column.to_numpy()
        if array.dtype.kind not in "fiu":
            raise TypeError(f"{name} must be columns of numbers, but {title!r} is {column.type}.")
        arrays.append(array)
    whole = np.empty((n, len(arrays)), np.result_type(*arrays) if arrays else np.float64)
    for c, array in enumerate(arrays):
        whole[:, c] = array
    return whole


def read_groups(path: str, columns: list[str], groups: list[int]) -> np.ndarray:
    """Rows of successive row groups of a Parquet file, from one column of lists or from several of numbers.

    One group after the other, so that beside the rows no more than a group is in memory.
    """
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        sizes = [file.metadata.row_group(g).num_rows for g in range(groups[-1] + 1)]
        starts = np.cumsum([0, *sizes]).tolist()
        parts = (arrow_rows(file.read_row_group(g, columns=columns), start=starts[g]) for g in groups)
        if len(groups) == 1:
            return np.ascontiguousarray(next(parts))
        return join(parts, starts[groups[-1] + 1] - starts[groups[0]], "embeddings", starts[groups[0]])
