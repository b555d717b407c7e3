"""Long tables: one row per item, a column that says which instance it is in, and columns of features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import numpy as np

from dpplearn._checks import FloatArray, IntArray, check_array

T = TypeVar("T")


def read_long(
    make: Callable[..., T],
    table: Any,
    *,
    group: str,
    features: Sequence[str],
    phi: Sequence[str],
    cost: str | None,
    chosen: str | None,
) -> tuple[list[T], list[IntArray]]:
    """What `make` gives for each instance, and the items chosen in each; see `ItemSet.from_long`."""
    labels, rows_of = group_rows(column(table, group), group)
    n = sum(rows.size for rows in rows_of)
    F, directions = columns(table, features, "features", n), columns(table, phi, "phi", n)
    costs = None if cost is None else column(table, cost, n)
    picked = np.zeros(n, np.bool_) if chosen is None else check_flags(column(table, chosen, n), chosen)
    made = []
    for label, rows in zip(labels, rows_of, strict=True):
        try:
            c = None if costs is None else costs[rows]
            made.append(make(F[rows], phi=directions[rows], cost=c, names=list(features)))
        except (TypeError, ValueError) as error:
            error.add_note(
                f"In group {label!r} of the table, whose rows are {rows[:8].tolist()}{'...' * (rows.size > 8)}."
            )
            raise
    return made, [np.flatnonzero(picked[rows]) for rows in rows_of]


def column(table: Any, name: str, n: int | None = None) -> np.ndarray:
    """One column as an array, of n entries if that is known."""
    try:
        found = np.asarray(table[name])
    except (KeyError, IndexError, ValueError):
        known = list(table) if isinstance(table, Mapping) else list(getattr(table, "columns", ()))
        raise KeyError(f"The table has no column {name!r}; it has {known}.") from None
    if found.ndim != 1:
        raise ValueError(f"Column {name!r} of the table must hold one value per row, found shape {found.shape}.")
    if n is not None and found.size != n:
        raise ValueError(
            f"The columns of the table must have the same length: the group has {n} entries, {name!r} has {found.size}."
        )
    return found


def columns(table: Any, names: Sequence[str], what: Literal["features", "phi"], n: int) -> FloatArray:
    """Several columns side by side, as floats."""
    if isinstance(names, str) or not isinstance(names, Iterable) or len(list(names)) == 0:
        raise TypeError(f"{what} must be a list of column names, found {names!r}.")
    return np.column_stack([check_array(column(table, name, n), name, 1) for name in names])


def check_flags(flags: np.ndarray, name: str) -> np.ndarray:
    """Booleans, or numbers that are all 0 or 1."""
    if flags.dtype == np.bool_:
        return flags
    if flags.dtype.kind not in "iuf" or not np.isin(flags, (0, 1)).all():
        raise ValueError(f"Column {name!r} must hold booleans, or 0 and 1, to say which items were chosen.")
    return flags.astype(np.bool_)


def group_rows(labels: np.ndarray, name: str) -> tuple[list[Any], list[IntArray]]:
    """The different labels in order of first appearance, and the rows of each in order."""
    rows: dict[Any, list[int]] = {}
    absent = np.isnat(labels) if labels.dtype.kind in "mM" else np.array([is_missing(x) for x in labels], np.bool_)
    if absent.any():
        raise ValueError(
            f"Column {name!r} must say of every row which group it is in, but has no value in row {absent.argmax()} "
            f"({absent.sum()} such rows in all). Leave these rows out, or give them a group."
        )
    for row, label in enumerate(labels.tolist()):
        rows.setdefault(label, []).append(row)
    return list(rows), [np.array(r, np.int64) for r in rows.values()]


def is_missing(x: Any) -> bool:
    """None, NaN, or what pandas has for them."""
    return x is None or type(x).__name__ in ("NAType", "NaTType") or (isinstance(x, float) and x != x)
