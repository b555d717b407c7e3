"""Numbers in whatever holds them (lists, numpy of any type and byte order, scipy sparse, Arrow) as one plain array.

Every public function reads its data here, so that no loop behind it meets a type or a layout it does not know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date, timedelta
from itertools import repeat
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

PLAIN = "efd"  # float16, float32, float64: what is read in place
LARGEST = float(np.finfo(np.float64).max)


def as_numbers(x: Any, name: str, ndim: int | None = None) -> np.ndarray:
    """A numpy array of real numbers in the machine's byte order; a copy only where the type has to change.

    float16, float32 and float64 keep their type. Integers, truth values and longer floats become float64.
    """
    if type(x) is np.ndarray and x.dtype.char in PLAIN and x.dtype.isnative:
        array = x
    else:
        if sparse.issparse(x):
            raise TypeError(f"{name} must be a dense array, found a scipy sparse one. Pass {name}.toarray().")
        if np.ma.isMaskedArray(x):
            raise TypeError(f"{name} must be a plain array, found a masked one. Pass {name}.filled(value).")
        array = as_floats(arrow_rows(x, name) if is_arrow(x) and ndim != 1 else as_array(x, name), name, x)
    if ndim == 1 and array.shape[1:] == (1,):  # a table of one column
        array = array[:, 0]
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension{'s' * (ndim > 1)}, found shape {array.shape}.")
    return array


def as_array(x: Any, name: str) -> np.ndarray:
    """numpy's array of it; of a column of lists or arrays, whatever its library, their rows."""
    try:
        array = np.asarray(x) if hasattr(x, "__array__") or not hasattr(x, "__dlpack__") else np.from_dlpack(x)
    except ValueError:  # rows of different length
        return stack_rows(x, name)
    column = array.dtype.kind == "O" and array.shape in ((array.size,), (array.size, 1)) and array.size > 0
    return stack_rows(array.ravel(), name) if column and isinstance(array.flat[0], list | tuple | np.ndarray) else array


def stack_rows(rows: Iterable[Any], name: str) -> np.ndarray:
    """Rows as one array, or which of them is unlike the first."""
    arrays: list[np.ndarray] = []
    for i, row in enumerate(rows):
        with suppress(ValueError):  # of lists of different length in it
            arrays.append(np.asarray(row))
        if len(arrays) == i or arrays[i].shape != arrays[0].shape:
            found = f"is {row!r:.40}"
            if len(arrays) > i and arrays[i].ndim == arrays[0].ndim == 1:
                found = f"has {arrays[i].size} numbers and row 0 {arrays[0].size}"
            raise ValueError(
                f"{name} must be numbers in rows of equal length, but row {i} {found}. "
                "Mend such rows, or leave them out."
            )
    return np.stack(arrays)


def as_floats(array: np.ndarray, name: str, given: Any = None) -> np.ndarray:
    """Native floats of at most 64 bits; or what is wrong with the type. `given` is what the message shows."""
    kind, native = array.dtype.kind, array.dtype.newbyteorder("=")
    if kind in "fbiu":
        with np.errstate(over="ignore", under="ignore"):  # infinite numbers are refused where all are to be finite
            return array.astype(native if native.char in PLAIN else np.float64, copy=False)
    found, hint = f"dtype {array.dtype}", "Pass numbers."
    if kind == "O" and array.ndim:
        entries = np.ndenumerate(array)
        odd = next(((i, v) for i, v in entries if not issubclass(type(v), Real) or LARGEST < abs(v) < np.inf), None)
        if odd is None:
            return array.astype(np.float64)
        shown = "a huge number" if isinstance(odd[1], Real) else f"{odd[1]!r:.40}"
        found, hint = f"{shown} at {name}[{', '.join(map(str, odd[0]))}]", advice(odd[1], name)
    elif given is None:
        found, hint = "None", ""
    elif callable(given):
        found, hint = "a function", "For a kernel that is a function, use ImplicitDPP."
    elif kind == "O":
        found, way = f"the type {type(given).__name__}", f"{name}.values()" if isinstance(given, Mapping) else name
        ordered = isinstance(given, Iterable) and not isinstance(given, set)
        hint = f"Pass list({way})." if ordered else "Pass a list or an array."
    elif kind == "c":
        hint = f"Only real numbers are supported: pass {name}.real, if the imaginary parts are 0."
    elif kind in "mM":
        hint = advice(date.min if kind == "M" else timedelta(), name)
    elif kind in "UST":
        found = f"the text {given!r:.40}" if array.ndim == 0 else f"texts ({array.dtype}), such as {array.ravel()[:1]}"
        hint = advice(str(array.flat[0]) if array.size else "", name)
    raise TypeError(f"{name} must be an array of real numbers, found {found}. {hint}".rstrip())


def advice(x: Any, name: str) -> str:
    """What to do about an entry that is no number."""
    if isinstance(x, str):
        if x.lstrip().startswith("["):
            return f"Pass [json.loads(text) for text in np.ravel({name})]."
        return "Numbers that were read as text must be converted, and columns of text left out."
    if x is None or type(x).__name__ in ("NAType", "NaTType"):
        return "It is missing: leave such items out, or put a number there."
    if isinstance(x, date | timedelta):
        unit = "m8[s]" if isinstance(x, timedelta) else "M8[s]"
        return f"Times are no numbers: pass seconds, np.asarray({name}, '{unit}').astype(float)."
    if isinstance(x, Real):
        return "A float cannot hold it: divide all by the same number."
    if hasattr(x, "__len__"):
        return "Pass one list of numbers for each item, all of the same length."
    return f"Pass np.asarray({name}, float)." if hasattr(x, "__float__") else "Pass numbers."


def as_csr(x: Any, name: str) -> sparse.csr_array:
    """A scipy sparse array or matrix of any format as rows of float32 or float64, each entry once; not copied if it is.

    scipy itself refuses float16 and foreign byte orders.
    """
    if x.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold real numbers, found dtype {x.dtype}.")
    if x.ndim != 2:
        raise ValueError(f"{name} must have 2 dimensions, found shape {x.shape}.")
    rows = sparse.csr_array(x, dtype=x.dtype if x.dtype.char in PLAIN else np.float64)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def is_arrow(x: Any) -> bool:
    """Whether this is an array or a table of pyarrow, which need not be installed."""
    return type(x).__module__.partition(".")[0] == "pyarrow"


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
        if len(x.column_names) != 1 or not hasattr(x.column(0).type, "value_type"):
            return as_columns([x.column(i) for i in range(len(x.column_names))], x.column_names, name, start)
        x = x.column(0)
    pieces = list(x.chunks) if hasattr(x, "chunks") else [x]
    if len(pieces) == 1:
        return piece_rows(pieces[0], name, start)
    starts = np.cumsum([start, *map(len, pieces)]).tolist()
    return join(map(piece_rows, pieces, repeat(name), starts), len(x), name, start)


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


def first_null(x: Any) -> int:
    """Where the first value is missing."""
    return int(np.asarray(x.is_null()).argmax())


def piece_rows(piece: Any, name: str, start: int = 0) -> np.ndarray:
    """Rows of one Arrow array of lists, whose first is row `start`."""
    if piece.null_count:
        row = start + first_null(piece)
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
        row = start + first_null(values) // max(size, 1)
        raise ValueError(f"{name} must be finite numbers, but row {row} has one that is missing.")
    numbers = values.to_numpy(zero_copy_only=False)
    if numbers.dtype.kind not in "fiub":
        raise TypeError(f"{name} must be lists of numbers, found {piece.type}.")
    return np.asarray(numbers).reshape(len(piece), size)


def as_columns(columns: list[Any], names: list[str], name: str, start: int = 0) -> np.ndarray:
    """One number of each row from each column."""
    arrays = []
    for column, title in zip(columns, names, strict=True):
        if column.null_count:
            row = start + first_null(column)
            raise ValueError(f"{name} must have a number in every column, but row {row} has none in {title!r}.")
        array = column.to_numpy()
        if array.dtype.kind not in "fiub":
            raise TypeError(
                f"{name} must be columns of numbers, but {title!r} is {column.type}. Leave it out, or cast it."
            )
        arrays.append(array)
    return np.column_stack(arrays) if arrays else np.empty((0, 0))


def read_groups(path: str, columns: list[str], groups: list[int]) -> np.ndarray:
    """Rows of successive row groups of a Parquet file, from one column of lists or from several of numbers.

    One group after the other, so that beside the rows no more than a group is in memory.
    """
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        sizes = [file.metadata.row_group(g).num_rows for g in range(groups[-1] + 1)]
        starts = np.cumsum([0, *sizes]).tolist()
        parts = (arrow_rows(file.read_row_group(g, columns=columns), start=starts[g]) for g in groups)
        return join(parts, starts[groups[-1] + 1] - starts[groups[0]], "embeddings", starts[groups[0]])
