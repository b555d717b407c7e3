"""Long tables: one row per item, a column that says which instance it is in, and columns of features."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, TypeVar

import numpy as np
from scipy import sparse

from dpplearn._checks import Features, FloatArray, IntArray, check_choice, count_of, row_lengths
from dpplearn._linalg import to_dense
from dpplearn._notebook import brief
from dpplearn.learning.columns import MOST_LEVELS, WIDE, Column, Levels, column_from, is_missing, label

T = TypeVar("T")
LOOKED_AT = 1000  # items of an instance whose similarities are looked at
OPPOSITE, ALL_ALIKE = -0.5, 0.98  # the square of a similarity: a quarter of what two equal items have; nearly all of it
Drop = Literal["most frequent"] | None
Names = Sequence[str] | Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Encoding:
    """Which columns of a table are features, and what they were in training, so that new data are read the same way.

    Parameters
    ----------
    features : tuple of Column
        Columns of the quality features.
    phi : mapping of str to tuple of Column
        Columns of the similarity features, by part. The part is called "" where the columns were a list.
    constant : bool
        Whether a column of ones comes first. Its weight is that of the levels without a column, too.
    """

    features: tuple[Column, ...]
    phi: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)
    constant: bool = False

    def __repr__(self) -> str:
        features = brief(tuple(one.name for one in self.features))
        phi = brief({part: tuple(one.name for one in columns) for part, columns in self.phi.items()})
        return f"Encoding(features={features}, phi={phi}, constant={self.constant})"

    @property
    def names(self) -> list[str]:
        """Of the quality features."""
        return ["constant"] * self.constant + [name for one in self.features for name in one.quality_names]

    @property
    def references(self) -> dict[str, str]:
        """The level of each category that the weights of its other levels are against."""
        return {one.name: one.levels[one.base] for one in self.features if one.base >= 0 and len(one.levels) > 1}

    @property
    def independent(self) -> bool:
        """Whether no column makes items alike."""
        return not self.phi

    def quality(self, raw: FloatArray) -> FloatArray:
        """The quality features, from the raw columns."""
        blocks = [one.quality(x) for one, x in zip(self.features, raw.T, strict=True)]
        return np.hstack([np.ones((len(raw), int(self.constant))), *blocks])

    def directions(self, raw: Mapping[str, FloatArray]) -> dict[str, Features]:
        """The similarity features of each part, from their raw columns."""
        return {part: directions_of(columns, raw[part]) for part, columns in self.phi.items()}

    def state(self) -> dict[str, Any]:
        """For a model file."""
        parts = {part: [vars(one) for one in columns] for part, columns in self.phi.items()}
        return {"features": [vars(one) for one in self.features], "phi": parts, "constant": self.constant}

    @classmethod
    def from_state(cls, state: Any, path: Any) -> Self:
        """What a model file says; an error where that is no encoding."""
        try:
            features = tuple(column_from(one) for one in state["features"])
            phi = {str(part): tuple(column_from(one) for one in columns) for part, columns in state["phi"].items()}
            if not isinstance(state["constant"], bool) or not features:
                raise ValueError("it has no features, or does not say whether there is a constant")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"encoding in {path} is none ({error}). Save the model again.") from None
        return cls(features, phi, state["constant"])


# The similarity features of a part


def directions_of(columns: Sequence[Column], raw: FloatArray) -> Features:
    """Columns side by side: each that is no boolean has length 1, so that no unit outweighs another."""
    ways = [(one.by_distance if counts_by_distance(one, columns) else one.direction) for one in columns]
    blocks: list[Features] = [way(x) for way, x in zip(ways, raw.T, strict=True)]
    if only_booleans(columns):  # items of which all are false are alike
        blocks.append(~np.any([(block != 0).ravel() for block in blocks], axis=0)[:, None])
    if sum(block.shape[1] for block in blocks) > WIDE:
        return sparse.csr_array(sparse.hstack([sparse.csr_array(block) for block in blocks]))
    return np.hstack([block.toarray() if sparse.issparse(block) else block for block in blocks]).astype(np.float64)


def only_booleans(columns: Sequence[Column]) -> bool:
    return all(one.kind == "boolean" for one in columns)


def are_coordinates(columns: Sequence[Column]) -> bool:
    """Whether columns are coordinates of one direction, as those of an embedding: several numbers and nothing else."""
    return len(columns) > 1 and all(one.kind == "number" for one in columns)


def counts_by_distance(one: Column, columns: Sequence[Column]) -> bool:
    """Whether a column of a part is a number that counts by its distance."""
    return one.kind == "number" and not are_coordinates(columns)


def warn_about_cosines(encoding: Encoding, directions: Mapping[str, Features], rows_of: Sequence[IntArray]) -> None:
    """Warn where several numbers, read as coordinates of a direction, are more likely measurements."""
    for part, columns in encoding.phi.items():
        if not are_coordinates(columns):
            continue
        names = [one.name for one in columns]
        few = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        lowest, highest = 1.0, -1.0
        for rows in rows_of:
            phi = to_dense(directions[part][rows[:LOOKED_AT]])
            lengths = row_lengths(phi)
            if rows.size > 1 and lengths.min() > 0:
                cosines = (phi @ phi.T) / lengths[:, None] / lengths
                lowest = min(lowest, float(cosines.min()))
                np.fill_diagonal(cosines, -1.0)
                highest = max(highest, float(cosines.max()))
        cure = (
            "If they are measurements, and not the coordinates of an embedding, make each a part of its own, which "
            f"counts by distance: phi={{{names[0]!r}: [{names[0]!r}], {names[1]!r}: [{names[1]!r}]}}."
        )
        if lowest < OPPOSITE:
            warnings.warn(
                f"By the numbers {few} in phi, some items have the similarity {lowest:.2f}. Items in opposite "
                "directions repel each other as if they were alike, because only the square of a similarity counts. "
                f"{cure}",
                stacklevel=4,
            )
        elif lowest > ALL_ALIKE and highest > -1.0:
            warnings.warn(
                f"By the numbers {few} in phi, all items are alike: no similarity is below {lowest:.3f}. {cure}",
                stacklevel=4,
            )


# From a table to item sets


def learn_encoding(table: Any, features: Any, phi: Names | None, drop: Drop, constant: bool) -> Encoding:
    """What the columns are in training."""
    if drop is not None:
        check_choice(drop, "drop", ("most frequent",))
    names = check_names_of(features, "features")
    n = column(table, names[0]).size
    if n == 0:
        raise ValueError("The table must have a row for each item, but has no rows.")
    columns = [learn_column(table, name, n, MOST_LEVELS) for name in names]
    if drop is None:
        columns = [replace(one, base=-1) for one in columns]
    lists = phi if isinstance(phi, Mapping) else {} if phi is None else {"": phi}
    if not lists and phi is not None:
        raise TypeError("phi must be a list of column names, or such lists by name, found an empty mapping.")
    parts = {
        part: tuple(learn_column(table, name, n) for name in check_names_of(some, "phi"))
        for part, some in lists.items()
    }
    for name in {one.name: None for part in parts.values() for one in part if has_one_value(table, one)}:
        warnings.warn(
            f"Column {name!r} has the same value in every row, so that it makes all items alike. Leave it out of phi.",
            stacklevel=3,
        )
    for one in columns:
        if len(one.levels) == 1 and not one.unknown:
            warnings.warn(
                f"Column {one.name!r} has one category in every row, {one.levels[0]!r:.40}: it has no weight.",
                stacklevel=3,
            )
    ones = any(one.kind == "number" and (column(table, one.name) == 1).all() for one in columns)
    constant = bool(constant) and not ones
    if not constant and not any(one.quality_names for one in columns):
        raise ValueError("No column of features has two values, and constant=False: nothing is left to learn from.")
    return Encoding(tuple(columns), parts, constant)


def learn_column(table: Any, name: str, n: int, most: int | None = None) -> Column:
    values = column(table, name, n)
    return Column.of(name, values, given_levels(table[name]), most=most)


def has_one_value(table: Any, one: Column) -> bool:
    raw = one.raw(column(table, one.name))
    return bool((raw == raw[0]).all())


def given_levels(series: Any) -> Levels | None:
    """Of a pandas categorical, or of a polars Enum, whose levels are in an order."""
    dtype: Any = getattr(series, "dtype", None)
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):  # pandas
        return Levels(tuple(label(x) for x in dtype.categories.tolist()), bool(dtype.ordered))
    if type(dtype).__name__ == "Enum" and hasattr(dtype, "categories"):  # polars
        return Levels(tuple(dtype.categories.to_list()), True)
    return None


def read_long(
    make: Callable[..., T],
    table: Any,
    encoding: Encoding,
    *,
    group: str | None,
    cost: str | None,
    chosen: str | None,
    new: bool,
) -> tuple[list[T], list[IntArray]]:
    """What `make` gives for each instance, and the items chosen in each; `new` data may have unknown categories."""
    n = column(table, encoding.features[0].name).size
    labels, rows_of = ([None], [np.arange(n)]) if group is None else group_rows(column(table, group, n), group)
    raw = raw_columns(table, encoding.features, n, new)
    directions = encoding.directions({part: raw_columns(table, cols, n, False) for part, cols in encoding.phi.items()})
    if not new:
        warn_about_cosines(encoding, directions, rows_of)
    F = encoding.quality(raw)
    costs = None if cost is None else column(table, cost, n)
    picked = np.zeros(n, np.bool_) if chosen is None else check_flags(column(table, chosen, n), chosen)
    made = []
    for name, rows in zip(labels, rows_of, strict=True):
        parts = {part: phi[rows] for part, phi in directions.items()}
        try:
            phi = parts[""] if set(parts) == {""} else parts or None
            c = None if costs is None else costs[rows]
            made.append(make(F[rows], phi=phi, cost=c, names=encoding.names, encoding=encoding, raw=raw[rows]))
        except (TypeError, ValueError) as error:
            if group is not None:
                few = f"{rows[:8].tolist()}{'...' * (rows.size > 8)}"
                error.add_note(f"In group {name!r} of the table, whose rows are {few}.")
            raise
    return made, [np.flatnonzero(picked[rows]) for rows in rows_of]


def raw_columns(table: Any, columns: Sequence[Column], n: int, new: bool) -> FloatArray:
    """The raw columns side by side; of new data, a warning says which have categories that training had not."""
    found = np.empty((n, len(columns)))
    for j, one in enumerate(columns):
        values = column(table, one.name, n)
        found[:, j] = one.raw(values)
        if new and one.levels and np.isnan(found[:, j]).any():
            codes = zip(values.tolist(), found[:, j].tolist(), strict=True)
            if odd := [x for x, code in codes if code != code and not is_missing(x)]:
                rows = count_of(len(odd), "row has", "rows have")
                warnings.warn(
                    f"{rows} a {one.name!r} that training had not ({odd[0]!r:.40} is the first): it counts as unknown.",
                    stacklevel=4,
                )
    return found


def column(table: Any, name: str, n: int | None = None) -> np.ndarray:
    """One column as an array, of n entries if that is known."""
    if callable(getattr(table, "collect", None)) and not hasattr(table, "__len__"):  # polars, lazy
        raise TypeError(f"The table must be there to be read, found a {type(table).__name__}: pass table.collect().")
    try:
        found = as_array(table[name])
    except Exception:  # every library has an error of its own for this
        known = list(table) if isinstance(table, Mapping) else list(getattr(table, "columns", ()))
        if name in known:
            raise
        raise KeyError(f"The table has no column {name!r}; it has {known}.") from None
    if found.ndim != 1:
        raise ValueError(f"Column {name!r} of the table must hold one value per row, found shape {found.shape}.")
    if n is not None and found.size != n:
        raise ValueError(
            f"The columns of the table must have the same length: {n} rows, but {name!r} has {found.size}."
        )
    return found


def as_array(values: Any) -> np.ndarray:
    """An array that keeps None and NaN among texts, which numpy would write as texts too."""
    if isinstance(values, list | tuple) and any(isinstance(x, str) for x in values):
        return np.array(values, object)
    return np.asarray(values)


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
        raise ValueError(
            f"Column {name!r} must hold booleans, or 0 and 1, to say which items were chosen; found {found} in row "
            f"{odd[0]} ({len(odd)} such rows in all). Convert it, for instance by table[{name!r}] == 'yes', or leave "
            "these rows out."
        )
    return flags.astype(np.bool_)


def group_rows(labels: np.ndarray, name: str) -> tuple[list[Any], list[IntArray]]:
    """The different labels in order of first appearance, and the rows of each in order."""
    rows: dict[Any, list[int]] = {}
    absent = (
        np.isnat(labels)
        if labels.dtype.kind in "mM"
        else np.array([is_missing(x) and x != "" for x in labels.tolist()], np.bool_)
    )
    if absent.any():
        raise ValueError(
            f"Column {name!r} must say of every row which group it is in, but has no value in row {absent.argmax()} "
            f"({absent.sum()} such rows in all). Leave these rows out, or give them a group."
        )
    for row, group in enumerate(labels.tolist()):
        rows.setdefault(group, []).append(row)
    return list(rows), [np.array(r, np.int64) for r in rows.values()]
