"""Long tables: one row per item, a column that says which instance it is in, and columns of features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeVar

import numpy as np
from scipy import sparse

from dpplearn._checks import Features, FloatArray, IntArray, count_of, row_lengths, warn_user
from dpplearn._linalg import to_dense
from dpplearn._notebook import brief
from dpplearn.learning.columns import WIDE, Column, column_from, is_missing

Made = TypeVar("Made")
LOOKED_AT = 1000  # instances whose similarities are looked at, and items of each
MANY_LEVELS = 50  # categories that are accepted however few rows there are
OPPOSITE, ALL_ALIKE = -0.5, 0.98  # the square of a similarity: a quarter of what two equal items have; nearly all of it
Names = Sequence[str] | Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Encoding:
    """Which columns of a table are features, and what they were in training, so that new data are read the same way."""

    features: tuple[Column, ...]
    phi: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)  # by part, called "" where they were a list

    def __repr__(self) -> str:
        phi = {part: tuple(one.name for one in columns) for part, columns in self.phi.items()}
        return f"Encoding(features={brief(tuple(one.name for one in self.features))}, phi={brief(phi)})"

    @classmethod
    def of(cls, table: Any, features: Any, phi: Names | None) -> Self:
        """What the columns are in training."""
        names = check_names_of(features, "features")
        n = column(table, names[0]).size
        if n == 0:
            raise ValueError("The table must have a row for each item, but has no rows.")

        def learn(name: str) -> Column:
            return Column.of(name, column(table, name, n), getattr(table[name], "dtype", None))

        columns = tuple(map(learn, names))
        for one in columns:
            if len(one.levels) > max(MANY_LEVELS, n // 2):
                many = f"{len(one.levels):,} different texts in {n:,} rows, such as {one.levels[0]!r:.40}"
                raise ValueError(f"Column {one.name!r} has {many}: too many for a weight each. Make numbers of them.")
        same = [one for one in columns if not one.levels and is_constant(one.raw(column(table, one.name)))]
        if len(same) < len(columns):  # a column of ones alone is a model without features
            columns = tuple(one for one in columns if one not in same)
            for one in same:
                warn_user(f"Column {one.name!r} has the same value in every row, {one.mean:.4g}: it has no weight.")
        if not any(one.quality_names for one in columns):
            raise ValueError("No column of features has two values: nothing is left to learn from.")
        lists = phi if isinstance(phi, Mapping) else {} if phi is None else {"": phi}
        if not lists and phi is not None:
            raise TypeError("phi must be a list of column names, or such lists by name, found an empty mapping.")
        parts = {part: check_names_of(some, "phi") for part, some in lists.items()}
        return cls(columns, {part: tuple(map(learn, some)) for part, some in parts.items()})

    @property
    def names(self) -> list[str]:
        """Of the quality features."""
        return [name for one in self.features for name in one.quality_names]

    @property
    def references(self) -> dict[str, str]:
        """The level of each category that the weights of its other levels are against."""
        return {one.name: one.levels[one.base] for one in self.features if one.base >= 0 and len(one.levels) > 1}

    def quality(self, raw: FloatArray) -> FloatArray:
        """The quality features, from the raw columns."""
        return np.hstack([one.quality(x) for one, x in zip(self.features, raw.T, strict=True)])

    def state(self) -> dict[str, Any]:
        """For a model file."""
        parts = {part: [vars(one) for one in columns] for part, columns in self.phi.items()}
        return {"features": [vars(one) for one in self.features], "phi": parts}

    @classmethod
    def from_state(cls, state: Any, path: Any) -> Self:
        """What a model file says; an error where that is no encoding."""
        try:
            features = tuple(column_from(one) for one in state["features"])
            phi = {str(part): tuple(column_from(one) for one in columns) for part, columns in state["phi"].items()}
            if not features:
                raise ValueError("it has no features")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"encoding in {path} cannot be read ({error}). Save the model again.") from None
        return cls(features, phi)


# The similarity features of a part


def directions_of(columns: Sequence[Column], raw: FloatArray) -> Features:
    """Columns side by side: each that is no boolean has length 1, so that no unit outweighs another."""
    near = not are_coordinates(columns)
    blocks: list[Features] = [
        one.by_distance(x) if near and one.kind == "number" else one.direction(x)
        for one, x in zip(columns, raw.T, strict=True)
    ]
    if all(one.kind == "boolean" for one in columns):  # items of which all are false are alike
        blocks.append(~np.any([(block != 0).ravel() for block in blocks], axis=0)[:, None])
    if sum(block.shape[1] for block in blocks) > WIDE:
        return sparse.csr_array(sparse.hstack([sparse.csr_array(block) for block in blocks]))
    return np.hstack([block.toarray() if sparse.issparse(block) else block for block in blocks]).astype(np.float64)


def are_coordinates(columns: Sequence[Column]) -> bool:
    """Whether columns are coordinates of one direction, as those of an embedding: several numbers and nothing else."""
    return len(columns) > 1 and all(one.kind == "number" for one in columns)


def warn_about_phi(
    columns: Sequence[Column], raw: FloatArray, directions: Features, rows_of: Sequence[IntArray]
) -> None:
    """Warn of columns that make all items alike, and of numbers that are more likely measurements than coordinates."""
    names = [one.name for one in columns]
    for name, x in zip(names, raw.T, strict=True):
        if is_constant(x):
            warn_user(f"Column {name!r} has the same value in every row, so that it makes all items alike. Remove it.")
    if not are_coordinates(columns):
        return
    lowest = np.inf
    for rows in rows_of[:LOOKED_AT]:
        phi = to_dense(directions[rows[:LOOKED_AT]])
        lengths = row_lengths(phi)
        if rows.size > 1 and lengths.min() > 0:
            lowest = min(lowest, float(((phi @ phi.T) / lengths[:, None] / lengths).min()))
    if OPPOSITE <= lowest <= ALL_ALIKE or lowest == np.inf:
        return
    said = "all items are alike"
    if lowest < OPPOSITE:
        said = "some items are opposite to others, which repel each other as equal ones do"
    warn_user(
        f"By the numbers {', '.join(names[:3])}{', ...' * (len(names) > 3)} in phi, {said} (the smallest similarity is "
        f"{lowest:.3f}). If they are measurements, and not the coordinates of an embedding, make each a part of its "
        f"own, which counts by distance: phi={{{names[0]!r}: [{names[0]!r}], {names[1]!r}: [{names[1]!r}]}}."
    )


def is_constant(x: np.ndarray) -> bool:
    return bool((x == x[0]).all())


# From a table to item sets


def read_long(
    make: Callable[..., Made],
    table: Any,
    encoding: Encoding,
    *,
    group: str | None,
    cost: str | None,
    chosen: str | None,
    new: bool,
) -> tuple[list[Made], list[IntArray]]:
    """What `make` gives for each instance, and the items chosen in each; `new` data may have unknown categories."""
    n = column(table, encoding.features[0].name).size
    rows_of = [np.arange(n)] if group is None else group_rows(column(table, group, n), group)[1]
    F = encoding.quality(raw_columns(table, encoding.features, n, new))
    directions: dict[str, Features] = {}
    for part, columns in encoding.phi.items():
        raw_phi = raw_columns(table, columns, n, False)
        directions[part] = directions_of(columns, raw_phi)
        if not new:
            warn_about_phi(columns, raw_phi, directions[part], rows_of)
    costs = None if cost is None else column(table, cost, n)
    picked = np.zeros(n, np.bool_) if chosen is None else check_flags(column(table, chosen, n), chosen)
    made = []
    for rows in rows_of:
        parts = {part: phi[rows] for part, phi in directions.items()}
        phi = parts[""] if set(parts) == {""} else parts or None
        c = None if costs is None else costs[rows]
        made.append(make(F[rows], phi=phi, cost=c, names=encoding.names, encoding=encoding))
    return made, [np.flatnonzero(picked[rows]) for rows in rows_of]


def raw_columns(table: Any, columns: Sequence[Column], n: int, new: bool) -> FloatArray:
    """The raw columns side by side; of new data, a warning says which have categories that training had not."""
    raw = np.empty((n, len(columns)))
    for j, one in enumerate(columns):
        values = column(table, one.name, n)
        raw[:, j] = one.raw(values)
        if new and one.levels:
            odd = [x for x, code in zip(values.tolist(), raw[:, j].tolist(), strict=True) if code != code]
            if odd := [x for x in odd if not is_missing(x)]:
                rows = count_of(len(odd), "row has", "rows have")
                warn_user(f"{rows} a {one.name!r} that training had not ({odd[0]!r:.40} is one): it counts as unknown.")
    return raw


def column(table: Any, name: str, n: int | None = None) -> np.ndarray:
    """One column as an array, of n entries if that is known."""
    try:
        values = table[name]
        # numpy would write None and NaN among texts as texts too
        texts = isinstance(values, list | tuple) and any(isinstance(x, str) for x in values)
        found = np.array(values, object) if texts else np.asarray(values)
    except Exception:  # every library has an error of its own for this
        known = list(table) if isinstance(table, Mapping) else list(getattr(table, "columns", ()))
        if name in known:
            raise
        raise KeyError(f"The table has no column {name!r}; it has {known or 'none: is it in memory?'}.") from None
    if found.ndim != 1:
        raise ValueError(f"Column {name!r} of the table must hold one value per row, found shape {found.shape}.")
    if n is not None and found.size != n:
        raise ValueError(f"Columns of a table must have the same length: {n} rows, but {name!r} has {found.size}.")
    return found


def check_names_of(names: Any, what: Literal["features", "phi"]) -> list[str]:
    """A list of at least one column name."""
    if isinstance(names, str) or not isinstance(names, Iterable) or len(list(names)) == 0:
        raise TypeError(f"{what} must be a list of column names, found {names!r}.")
    return list(names)


def check_flags(flags: np.ndarray, name: str) -> np.ndarray:
    """Booleans, or numbers that are all 0 or 1."""
    if flags.dtype == np.bool_:
        return flags
    values = flags.tolist()
    odd = [row for row, x in enumerate(values) if is_missing(x) or isinstance(x, str) or x not in (0, 1)]
    if odd:
        found = "nothing" if is_missing(values[odd[0]]) else repr(values[odd[0]])[:40]
        where = f"row {odd[0]} ({len(odd)} such rows in all)"
        raise ValueError(f"Column {name!r} says what was chosen by booleans, or 0 and 1; found {found} in {where}.")
    return flags.astype(np.bool_)


def group_rows(labels: np.ndarray, name: str) -> tuple[list[Any], list[IntArray]]:
    """The different labels in order of first appearance, and the rows of each in order."""
    rows: dict[Any, list[int]] = {}
    dates = np.isnat(labels) if labels.dtype.kind in "mM" else np.zeros(labels.size, np.bool_)
    absent = np.flatnonzero([is_missing(x) and x != "" for x in labels.tolist()] | dates)
    if absent.size:
        rest = f"({absent.size} such rows in all). Leave these rows out, or give them a group."
        raise ValueError(f"Column {name!r} has no value in row {absent[0]} {rest}")
    for row, group in enumerate(labels.tolist()):
        rows.setdefault(group, []).append(row)
    return list(rows), [np.array(r, np.int64) for r in rows.values()]
