"""Numbers in whatever holds them (lists, numpy of any type and byte order, scipy sparse, Arrow) as one plain array.

Every public function reads its data here, so that no loop behind it meets a type or a layout it does not know.
"""

from __future__ import annotations

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
        is_arrow = type(x).__module__.partition(".")[0] == "pyarrow"
        array = as_floats(arrow_rows(x, name) if is_arrow and ndim != 1 else as_array(x, name), name, x)
    if ndim == 1 and array.shape[1:] == (1,):  # a table of one column
        array = array[:, 0]
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension{'s' * (ndim > 1)}, found shape {array.shape}.")
    return array


def as_array(x: Any, name: str) -> np.ndarray:
    """numpy's array of it; of a column of lists or arrays, whatever its library, their rows."""
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
    """Native floats of at most 64 bits; or what is wrong with the type. `given` is what the message shows."""
    kind, native = array.dtype.kind, array.dtype.newbyteorder("=")
    if kind in "fbiu":
        with np.errstate(over="ignore", under="ignore"):  # infinite numbers are refused where all are to be finite
            return array.astype(native if native.char in PLAIN else np.float64, copy=False)
    found, hint = f"dtype {array.dtype}", "Convert numbers that were read as text, and times to seconds."
    if kind == "O" and array.ndim:
        entries = np.ndenumerate(array)
        odd = next(((i, v) for i, v in entries if not issubclass(type(v), Real) or LARGEST < abs(v) < np.inf), None)
        if odd is None:
            return array.astype(np.float64)
        found = f"{odd[1]!r:.40} at {name}[{', '.join(map(str, odd[0]))}]"
        hint = "Convert what is there to a float, or leave such items out."
    elif kind == "O":
        found = f"the type {type(given).__name__}"
        hint = "For a kernel that is a function, use ImplicitDPP." if callable(given) else "Pass a list or an array."
    raise TypeError(f"{name} must be an array of real numbers, found {found}. {hint}")


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


def arrow_rows(x: Any, name: str = "embeddings", start: int = 0) -> np.ndarray:
    """Rows of an Arrow array of lists, or of a table of one such column or of columns of numbers; the first is called
    row `start` where one is wrong.

    Float lists in one piece are read where they lie; those in several pieces, and columns, are put together once.
    """
    if hasattr(x, "column_names"):
        if len(x.column_names) != 1 or not hasattr(x.column(0).type, "value_type"):
            return as_columns([x.column(i) for i in range(len(x.column_names))], x.column_names, name)
        x = x.column(0)
    piece = x.combine_chunks() if hasattr(x, "chunks") else x
    if piece.null_count:
        row = start + int(np.asarray(piece.is_null()).argmax())
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
    numbers = values.to_numpy(zero_copy_only=False)  # NaN where one is missing
    if numbers.dtype.kind not in "fiub":
        raise TypeError(f"{name} must be lists of numbers, found {piece.type}.")
    return np.asarray(numbers).reshape(len(piece), size)


def as_columns(columns: list[Any], names: list[str], name: str) -> np.ndarray:
    """One number of each row from each column."""
    arrays = []
    for column, title in zip(columns, names, strict=True):
        array = column.to_numpy()  # NaN where a number is missing
        if array.dtype.kind not in "fiub":
            raise TypeError(
                f"{name} must be columns of numbers, but {title!r} is {column.type}. Leave it out, or cast it."
            )
        arrays.append(array)
    return np.column_stack(arrays) if arrays else np.empty((0, 0))
