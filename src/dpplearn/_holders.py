"""Reads numbers from whatever holds them (lists, any numpy type and byte order, scipy sparse, Arrow) into plain arrays.

Every public function reads its data here, so that the code behind it meets only types and layouts that it knows.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

PLAIN = "efd"  # float16, float32 and float64, which are used without a copy
LARGEST = float(np.finfo(np.float64).max)


def as_numbers(x: Any, name: str, ndim: int | None = None) -> np.ndarray:
    """A numpy array of real numbers in the machine's byte order; copied only if the type has to change.

    float16, float32 and float64 keep their type. Integers, truth values and longer floats become float64.
    """
    if type(x) is np.ndarray and x.dtype.char in PLAIN and x.dtype.isnative:
        array = x
    else:
        if sparse.issparse(x):
            raise TypeError(f"{name} must be a dense array, found a scipy sparse one. Pass {name}.toarray().")
        if np.ma.isMaskedArray(x):
            raise TypeError(f"{name} must be a plain array, found a masked one. Pass {name}.filled(value).")
        is_arrow = type(x).__module__.partition(".")[0] == "pyarrow"
        array = as_floats(arrow_rows(x, name) if is_arrow and ndim != 1 else as_array(x, name), name, x)
    if ndim == 1 and array.shape[1:] == (1,):  # a table of one column
        array = array[:, 0]
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension{'s' * (ndim > 1)}, found shape {array.shape}.")
    return array


def as_array(x: Any, name: str) -> np.ndarray:
    """numpy's array of x; if x is a column of lists or arrays, as data frames have them, an array of their rows."""
    try:
        array = np.asarray(x) if hasattr(x, "__array__") or not hasattr(x, "__dlpack__") else np.from_dlpack(x)
        column = array.dtype.kind == "O" and array.shape in ((array.size,), (array.size, 1)) and array.size > 0
        lists = column and isinstance(array.flat[0], list | tuple | np.ndarray)
        return np.stack(array.ravel().tolist()) if lists else array
    except ValueError:
        raise ValueError(
            f"{name} must be numbers in rows of equal length. Mend rows that differ, or leave them out."
        ) from None


def as_floats(array: np.ndarray, name: str, given: Any = None) -> np.ndarray:
    """The numbers as native floats of at most 64 bits, or an error about their type, which names that of `given`."""
    kind, native = array.dtype.kind, array.dtype.newbyteorder("=")
    if kind in "fbiu":
        with np.errstate(over="ignore", under="ignore"):  # callers that need finite numbers refuse infinite ones
            return array.astype(native if native.char in PLAIN else np.float64, copy=False)
    what, hint = f"dtype {array.dtype}", "Convert numbers that were read as text, and times to seconds."
    if kind == "O" and array.ndim:
        entries = np.ndenumerate(array)
        odd = next(((i, v) for i, v in entries if not issubclass(type(v), Real) or LARGEST < abs(v) < np.inf), None)
        if odd is None:
            return array.astype(np.float64)
        what = f"{odd[1]!r:.40} at {name}[{', '.join(map(str, odd[0]))}]"
        hint = "Convert what is there to a float, or leave such items out."
    elif kind == "O":
        what = f"the type {type(given).__name__}"
        hint = "For a kernel that is a function, use ImplicitDPP." if callable(given) else "Pass a list or an array."
    raise TypeError(f"{name} must be an array of real numbers, found {what}. {hint}")


def as_csr(x: Any, name: str) -> sparse.csr_array:
    """A scipy sparse array or matrix of any format as csr rows of float32 or float64, copied only if necessary.

    Repeated entries are added up. scipy itself refuses float16 and foreign byte orders.
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


def arrow_rows(x: Any, name: str = "embeddings", start: int = 0) -> np.ndarray:
    """Rows of an Arrow array of lists, or of a table with one such column or with columns of numbers.

    Only lists that lie in several pieces, and columns, are copied. Messages count rows from `start`.
    """
    if hasattr(x, "column_names"):
        if len(x.column_names) != 1 or not hasattr(x.column(0).type, "value_type"):
            return as_columns(x, name)
        x = x.column(0)
    piece = x.combine_chunks() if hasattr(x, "chunks") else x
    if piece.null_count:
        row = start + int(np.asarray(piece.is_null()).argmax())
        raise ValueError(f"{name} must have a list of numbers in every row, but row {row} has none.")
    if not hasattr(piece, "flatten") or not hasattr(piece.type, "value_type"):
        raise TypeError(f"{name} must be a column of lists, or several columns of numbers, found {piece.type}.")
    values = piece.flatten()  # only the values of this slice, without a copy
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
    numbers = values.to_numpy(zero_copy_only=False)  # NaN where one is missing
    if numbers.dtype.kind not in "fiub":
        raise TypeError(f"{name} must be lists of numbers, found {piece.type}.")
    return np.asarray(numbers).reshape(len(piece), size)


def as_columns(table: Any, name: str) -> np.ndarray:
    """The rows of an Arrow table of numbers."""
    arrays = [table.column(i).to_numpy() for i in range(table.num_columns)]  # NaN where a number is missing
    for i, array in enumerate(arrays):
        if array.dtype.kind not in "fiub":
            column = f"{table.column_names[i]!r} is {table.column(i).type}"
            raise TypeError(f"{name} must be columns of numbers, but {column}. Leave that column out, or cast it.")
    return np.column_stack(arrays) if arrays else np.empty((0, 0))
