"""Long tables, with a row for each item: which columns are features, and how they become numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse

from dpplearn._checks import Features, FloatArray, IntArray, count_of, row_lengths, warn_user
from dpplearn._linalg import to_dense
from dpplearn._notebook import brief
from dpplearn.learning.columns import MAX_DENSE, Column, column_from, is_missing

MAX_CHECKED = 1000  # instances whose similarities are checked, and items of each
MANY_LEVELS = 50  # categories that are accepted for any number of rows
OPPOSITE, ALL_SIMILAR = -0.5, 0.98  # we warn if the smallest similarity is below the first or above the second
Names = Sequence[str] | Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Encoding:
    """Which columns of a table are features, and their levels and scales in training; new data are read in this way."""

    features: tuple[Column, ...]
    phi: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)  # by part, called "" if only a list was given

    def __repr__(self) -> str:
        phi = {part: tuple(col.name for col in columns) for part, columns in self.phi.items()}
        return f"Encoding(features={brief(tuple(col.name for col in self.features))}, phi={brief(phi)})"

    @classmethod
    def of(cls, table: Any, features: Any, phi: Names | None) -> Self:
        """The encoding of a training table."""
        names = check_names_of(features, "features")
        n = column(table, names[0]).size
        if n == 0:
            raise ValueError("The table must have a row for each item, but has no rows.")

        def learn(names: Iterable[str]) -> tuple[Column, ...]:
            arrays = [(name, column(table, name, n)) for name in names]
            return tuple(Column.of(name, array, getattr(table[name], "dtype", None)) for name, array in arrays)

        columns = learn(names)
        for col in columns:
            if len(col.levels) > max(MANY_LEVELS, n // 2):
                many = f"{len(col.levels):,} different texts in {n:,} rows, such as {col.levels[0]!r:.40}"
                raise ValueError(f"Column {col.name!r} has {many}: too many for a weight each. Make numbers of them.")
        same = [col for col in columns if not col.levels and len(np.unique(col.raw(column(table, col.name)))) == 1]
        if len(same) < len(columns):  # a column of ones alone is a model without features
            columns = tuple(col for col in columns if col not in same)
            for col in same:
                warn_user(f"Column {col.name!r} has the same value in every row, {col.mean:.4g}: it has no weight.")
        if not any(col.quality_names for col in columns):
            raise ValueError("No column of features has two values: nothing is left to learn from.")
        lists = phi if isinstance(phi, Mapping) else {} if phi is None else {"": phi}
        if not lists and phi is not None:
            raise TypeError("phi must be a list of column names, or such lists by name, found an empty mapping.")
        return cls(columns, {part: learn(check_names_of(names, "phi")) for part, names in lists.items()})

    @property
    def names(self) -> list[str]:
        """Names of the quality features."""
        return [name for col in self.features for name in col.quality_names]

    @property
    def references(self) -> dict[str, str]:
        """The level of each category with which the weights of its other levels compare."""
        return {col.name: col.levels[col.base] for col in self.features if col.base >= 0 and len(col.levels) > 1}

    def quality(self, raw: FloatArray) -> FloatArray:
        """The quality features, from the raw columns."""
        return np.hstack([col.quality(x) for col, x in zip(self.features, raw.T, strict=True)])

    def state(self) -> dict[str, Any]:
        """The encoding as JSON, for a model file."""
        parts = {part: [vars(col) for col in columns] for part, columns in self.phi.items()}
        return {"features": [vars(col) for col in self.features], "phi": parts}

    @classmethod
    def from_state(cls, state: Any, path: Any) -> Self:
        """The encoding in a model file, or an error that names the file."""
        try:
            features = tuple(map(column_from, state["features"]))
            phi = {str(part): tuple(map(column_from, columns)) for part, columns in state["phi"].items()}
            if not features:
                raise ValueError("it has no features")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"encoding in {path} cannot be read ({error}). Save the model again.") from None
        return cls(features, phi)


# The similarity features of a part


def directions_of(table: Any, columns: Sequence[Column], rows_of: Sequence[IntArray], new: bool) -> Features:
    """The columns side by side, scaled so that no unit counts more than another; warns of doubtful training data."""
    raw, by_distance = raw_columns(table, columns, sum(map(len, rows_of)), False), not are_coordinates(columns)
    blocks: list[Features] = [
        col.by_distance(x) if by_distance and col.kind == "number" else col.direction(x)
        for col, x in zip(columns, raw.T, strict=True)
    ]
    if all(col.kind == "boolean" for col in columns):  # items whose booleans are all false are similar
        blocks.append(~np.any([(block != 0).ravel() for block in blocks], axis=0)[:, None])
    if sum(block.shape[1] for block in blocks) > MAX_DENSE:
        directions: Features = sparse.csr_array(sparse.hstack([sparse.csr_array(block) for block in blocks]))
    else:
        directions = np.hstack([to_dense(block) for block in blocks]).astype(np.float64)
    if not new:
        warn_about_phi(columns, raw, directions, rows_of)
    return directions


def are_coordinates(columns: Sequence[Column]) -> bool:
    """Whether the columns are coordinates of one direction, as of an embedding: several numbers and nothing else."""
    return len(columns) > 1 and all(col.kind == "number" for col in columns)


def warn_about_phi(
    columns: Sequence[Column], raw: FloatArray, directions: Features, rows_of: Sequence[IntArray]
) -> None:
    """Warn of columns that make all items similar, and of numbers that are probably not coordinates."""
    names = [col.name for col in columns]
    for name, x in zip(names, raw.T, strict=True):
        if len(np.unique(x)) == 1:
            warn_user(f"Column {name!r} has the same value in every row, so that it makes all items alike. Remove it.")
    if not are_coordinates(columns):
        return
    lowest = np.inf
    for rows in rows_of[:MAX_CHECKED]:
        phi = to_dense(directions[rows[:MAX_CHECKED]])
        lengths = row_lengths(phi)
        if rows.size > 1 and lengths.min() > 0:
            lowest = min(lowest, float(((phi @ phi.T) / lengths[:, None] / lengths).min()))
    if OPPOSITE <= lowest <= ALL_SIMILAR or lowest == np.inf:
        return
    effect = "all items are alike"
    if lowest < OPPOSITE:
        effect = "some items are opposite to others, which repel each other as equal ones do"
    warn_user(
        f"By the numbers {', '.join(names[:3])}{', ...' * (len(names) > 3)} in phi, {effect} (the smallest similarity "
        f"is {lowest:.3f}). If they are measurements, not the coordinates of an embedding, make each a part of its "
        f"own, which counts by distance: phi={{{names[0]!r}: [{names[0]!r}], {names[1]!r}: [{names[1]!r}]}}."
    )


# Columns of a table


def raw_columns(table: Any, columns: Sequence[Column], n: int, new: bool) -> FloatArray:
    """The raw columns side by side; a warning names categories of new data that training did not have."""
    raw = np.empty((n, len(columns)))
    for j, col in enumerate(columns):
        values = column(table, col.name, n)
        raw[:, j] = col.raw(values)
        if new and col.levels:
            unseen = [x for x, missing in zip(values.tolist(), np.isnan(raw[:, j]), strict=True) if missing]
            if unseen := [x for x in unseen if not is_missing(x)]:
                rows = count_of(len(unseen), "row has", "rows have")
                warn_user(
                    f"{rows} a {col.name!r} that training had not ({unseen[0]!r:.40} is one): it counts as unknown."
                )
    return raw


def column(table: Any, name: str, n: int | None = None) -> np.ndarray:
    """One column as an array, of n entries if n is given."""
    try:
        values = table[name]
        # from a list of texts with None or NaN, numpy would make texts of these as well
        texts = isinstance(values, list | tuple) and any(isinstance(x, str) for x in values)
        array = np.array(values, object) if texts else np.asarray(values)
    except Exception:  # every library has an error of its own for this
        names = list(table) if isinstance(table, Mapping) else list(getattr(table, "columns", ()))
        if name in names:
            raise
        raise KeyError(f"The table has no column {name!r}; it has {names or 'none: is it in memory?'}.") from None
    if array.ndim != 1:
        raise ValueError(f"Column {name!r} of the table must hold one value per row, found shape {array.shape}.")
    if n is not None and array.size != n:
        raise ValueError(f"Columns of a table must have the same length: {n} rows, but {name!r} has {array.size}.")
    return array


def check_names_of(names: Any, what: Literal["features", "phi"]) -> list[str]:
    """A list of at least one column name."""
    listed = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else []
    if not listed:
        raise TypeError(f"{what} must be a list of column names, found {names!r}.")
    return listed


def check_flags(flags: np.ndarray, name: str) -> np.ndarray:
    """Booleans, or numbers that are all 0 or 1."""
    if flags.dtype == np.bool_:
        return flags
    values = flags.tolist()
    if bad := [row for row, x in enumerate(values) if is_missing(x) or isinstance(x, str) or x not in (0, 1)]:
        found = "nothing" if is_missing(values[bad[0]]) else repr(values[bad[0]])[:40]
        where = f"row {bad[0]} ({len(bad)} such rows in all)"
        raise ValueError(f"Column {name!r} says what was chosen by booleans, or 0 and 1; found {found} in {where}.")
    return flags.astype(np.bool_)


def group_rows(labels: np.ndarray, name: str) -> list[IntArray]:
    """The rows of each label, in the order in which the labels appear first."""
    rows: dict[Any, list[int]] = {}
    no_time = np.isnat(labels) if labels.dtype.kind in "mM" else np.zeros(labels.size, np.bool_)
    absent = np.flatnonzero([is_missing(x) and x != "" for x in labels.tolist()] | no_time)
    if absent.size:
        rest = f"({absent.size} such rows in all). Leave these rows out, or give them a group."
        raise ValueError(f"Column {name!r} has no value in row {absent[0]} {rest}")
    for row, group in enumerate(labels.tolist()):
        rows.setdefault(group, []).append(row)
    return [np.array(r, np.int64) for r in rows.values()]
